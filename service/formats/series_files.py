"""Files of plain series, CSV or JSON, for `kunline detect`: the values of each, run by run."""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError

from service.domain.metric import METRICS, Better
from service.domain.screen import Watched, least_of
from service.formats.messages import Message
from service.stats.seeds import SeedEffects, paired

MAX_BYTES = 64 * 1024 * 1024
# A column so named says which run a row is, and is no series.
LABEL_COLUMNS = frozenset({"run", "label", "commit", "stack", "date", "timestamp"})
NO_VALUE = frozenset({"", "nan", "null", "-"})


class SeriesFileError(ValueError):
    """A file of series is not to be understood at one place."""

    def __init__(self, file: str, where: str, why: str) -> None:
        super().__init__(f"{file}:{where}: {why}")


class SeriesPart(Message):
    """One series of a JSON file. A run's value is a number, null, or one number per seed."""

    name: str
    metric: str | None = None
    better: Better | None = None
    host: str | None = None
    values: tuple[float | dict[str, float] | None, ...]


class SeriesDocument(Message):
    """A JSON file in full."""

    labels: tuple[str, ...] = ()
    series: tuple[SeriesPart, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Table:
    """Series that were measured together: rows[i] holds each one's value in run i.

    labels: what the file calls each run; empty where it does not say.
    """

    file: str
    series: tuple[Watched, ...]
    rows: tuple[tuple[float | None, ...], ...]
    labels: tuple[str, ...] = ()


_DOCUMENT = TypeAdapter(SeriesDocument)


def read_series(content: bytes, *, file: str) -> Table:
    """Return the series in a file: JSON where it starts with { or [, else CSV with a header.

    Raises SeriesFileError, naming file, line or index, and field.
    """
    if len(content) > MAX_BYTES:
        raise SeriesFileError(file, "0", f"more than {MAX_BYTES} bytes; split the file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise SeriesFileError(file, str(line), "not UTF-8 text") from error
    if not text.strip():
        raise SeriesFileError(file, "1", "the file is empty")
    return _of_json(text, file) if text.lstrip()[0] in "{[" else _of_csv(text, file)


def _of_csv(text: str, file: str) -> Table:
    reader = csv.reader(io.StringIO(text))
    header: list[str] | None = None
    rows, labels = [], []
    for cells in reader:
        if not cells:
            continue
        if header is None:
            header = _header(cells, file, reader.line_num)
            continue
        if len(cells) != len(header):
            why = f"{len(cells)} fields, and the header has {len(header)}"
            raise SeriesFileError(file, str(reader.line_num), why)
        named = list(zip(header, cells, strict=True))
        labels += [cell for name, cell in named if _is_label(name)][:1]
        rows.append(
            tuple(
                _number(cell, file, f"{reader.line_num}: {name}")
                for name, cell in named
                if not _is_label(name)
            )
        )
    names = [name for name in header or () if not _is_label(name)]
    if not rows:
        raise SeriesFileError(file, "1", "there is a header and no row below it")
    return Table(file, tuple(_watched(name) for name in names), tuple(rows), tuple(labels))


def _header(cells: Sequence[str], file: str, line: int) -> list[str]:
    names = [cell.strip() for cell in cells]
    if all(_is_number(name) for name in names):
        why = "the first line names the columns, and this one holds numbers"
        raise SeriesFileError(file, str(line), why)
    if "" in names or len({*names}) < len(names):
        raise SeriesFileError(file, str(line), "every column needs a name of its own")
    if all(map(_is_label, names)):
        raise SeriesFileError(file, str(line), f"there is no series beside {', '.join(names)}")
    return names


def _number(cell: str, file: str, where: str) -> float | None:
    if cell.strip().lower() in NO_VALUE:
        return None
    try:
        value = float(cell)
    except ValueError as error:
        why = (
            f"{cell[:40]!r} is no number; leave the field empty where a run has no value, "
            f"and name a column that is no series {', '.join(sorted(LABEL_COLUMNS))}"
        )
        raise SeriesFileError(file, where, why) from error
    return _positive(value, file, where)


def _positive(value: float, file: str, where: str) -> float:
    if not (math.isfinite(value) and value > 0):
        why = f"{value!r} has no logarithm; changes are ratios, so values are finite and above zero"
        raise SeriesFileError(file, where, why)
    return value


def _of_json(text: str, file: str) -> Table:
    try:
        document = _DOCUMENT.validate_python(_long_form(json.loads(text)))
    except json.JSONDecodeError as error:
        raise SeriesFileError(file, f"{error.lineno}:{error.colno}", error.msg) from error
    except ValidationError as error:
        problems = error.errors(include_url=False)
        # A misspelt field is reported as one missing and one too many: the latter is what to mend.
        problem = next((one for one in problems if one["type"] == "extra_forbidden"), problems[0])
        where = ".".join(str(part) for part in problem["loc"] if part != "float")
        raise SeriesFileError(file, where or "1", problem["msg"]) from error
    lengths = {part.name: len(part.values) for part in document.series}
    if len(lengths) < len(document.series):
        raise SeriesFileError(file, "series", "every series needs a name of its own")
    if len({*lengths.values()}) > 1:
        told = ", ".join(f"{name} {length}" for name, length in [*lengths.items()][:4])
        why = (
            f"series of one file are measured together and equally long ({told}); null is no value"
        )
        raise SeriesFileError(file, "series", why)
    columns = [tuple(_column(part, file)) for part in document.series]
    watched = tuple(_watched(part.name, part) for part in document.series)
    if document.labels and len(document.labels) != len(columns[0]):
        raise SeriesFileError(file, "labels", "there is one label per run, or none at all")
    return Table(file, watched, tuple(zip(*columns, strict=True)), document.labels)


def _long_form(found: Any) -> Any:
    """Return the short forms, [values] and {name: [values]}, as the full one."""
    if isinstance(found, list):
        return {"series": [{"name": "value", "values": found}]}
    if isinstance(found, Mapping) and "series" not in found:
        return {"series": [{"name": name, "values": values} for name, values in found.items()]}
    return found


def _column(part: SeriesPart, file: str) -> Iterator[float | None]:
    seeds = SeedEffects()
    for index, value in enumerate(part.values):
        where = f"{part.name}[{index}]"
        if isinstance(value, dict) and value:
            logs = {seed: math.log(_positive(v, file, where)) for seed, v in value.items()}
            logarithm, seeds = paired(seeds, logs)
            yield math.exp(logarithm)
        elif value is None or isinstance(value, dict):
            yield None
        else:
            yield _positive(value, file, where)


def _watched(name: str, part: SeriesPart | None = None) -> Watched:
    metric = (part and part.metric) or name.rpartition(":")[2].strip()
    known = METRICS.get(metric)
    better = (part and part.better) or (known.better if known else Better.LOWER)
    return Watched(name, metric, better, least_of(metric), part.host if part else None)


def _is_label(name: str) -> bool:
    return name.lower() in LABEL_COLUMNS


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
