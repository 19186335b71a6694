"""What an aiperf or genai-perf run was asked for, in each of the shapes its configuration has had.

aiperf since 0.10 or so: models, endpoint, datasets and phases. aiperf before: endpoint, input and
loadgen. genai-perf: its command line, flat.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from service.domain.resolution import Fact
from service.formats.tools.fields import above_zero, is_not_finite, section, text, whole
from service.formats.tools.tool import Document

# Phases that come before the one that is measured.
_NOT_MEASURED = frozenset({"warmup", "warm_up", "ramp"})


@dataclass(frozen=True, slots=True)
class Asked:
    """What one run was asked for; None is not told.

    input_tokens, output_tokens: means of what was made up. lengths_vary: whether a spread was
    asked for. server_counts: whether the tool took the server's counts of tokens for its own.
    """

    model: str | None = None
    dataset: str | None = None
    streaming: bool | None = None
    concurrency: int | None = None
    rate: float | None = None
    requests: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    lengths_vary: bool = False
    ignore_eos: bool = False
    server_counts: bool = False

    @property
    def condition(self) -> dict[str, Fact]:
        """What the run's condition is, as far as it is told."""
        told: dict[str, Fact] = {
            "model": self.model,
            "dataset": self.dataset,
            "concurrency": self.concurrency,
            "request_rate": self.rate,
            "requests": self.requests,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
        }
        told = {name: value for name, value in told.items() if value is not None}
        if self.rate is not None or self.concurrency is not None:
            told["load"] = "closed" if self.rate is None else "open"
        if self.lengths_vary:
            told["lengths_vary"] = True
        if self.output_tokens is not None:
            told["ignore_eos"] = self.ignore_eos
        return told


def asked(config: Document) -> Asked:
    """Return what a configuration asks for, of whichever shape it is."""
    if "phases" in config or "datasets" in config:
        return _of_phases(config)
    if "loadgen" in config or isinstance(config.get("endpoint"), Mapping):
        return _of_sections(config)
    return _of_command_line(config)


def _of_phases(config: Document) -> Asked:
    endpoint, dataset = section(config, "endpoint"), _only(config.get("datasets"))
    phase = _only(each for each in _objects(config.get("phases")) if _is_measured(each))
    prompts = section(dataset, "prompts")
    given, wanted = section(prompts, "isl"), section(prompts, "osl")
    models = _objects(section(config, "models").get("items"))
    return Asked(
        model=_named(text(each, "name") for each in models),
        dataset=text(dataset, "type"),
        streaming=_switch(endpoint, "streaming"),
        concurrency=_counted(phase, "concurrency"),
        rate=above_zero(phase, "rate") or above_zero(phase, "request_rate"),
        requests=_counted(phase, "requests"),
        input_tokens=_counted(given, "mean") or _counted(given, "value"),
        output_tokens=_counted(wanted, "mean") or _counted(wanted, "value"),
        lengths_vary=_varies(given) or _varies(wanted),
        ignore_eos=_ignores_eos(endpoint.get("extra")),
        server_counts=endpoint.get("use_server_token_count") is True,
    )


def _of_sections(config: Document) -> Asked:
    endpoint, load = section(config, "endpoint"), section(config, "loadgen")
    source = section(config, "input")
    prompt = section(source, "prompt")
    given, wanted = section(prompt, "input_tokens"), section(prompt, "output_tokens")
    return Asked(
        model=_named(_texts(endpoint.get("model_names"))),
        dataset=text(source, "custom_dataset_type") or text(source, "public_dataset"),
        streaming=_switch(endpoint, "streaming"),
        concurrency=_counted(load, "concurrency"),
        rate=above_zero(load, "request_rate"),
        requests=_counted(load, "request_count"),
        input_tokens=_counted(given, "mean"),
        output_tokens=_counted(wanted, "mean"),
        lengths_vary=_varies(given) or _varies(wanted),
        ignore_eos=_ignores_eos(source.get("extra")),
        server_counts=endpoint.get("use_server_token_count") is True,
    )


def _of_command_line(config: Document) -> Asked:
    rate = above_zero(config, "request_rate")
    return Asked(
        model=_named(_texts(config.get("model"))),
        streaming=_switch(config, "streaming"),
        # With a rate the concurrency that stands there is the default and was not used.
        concurrency=_counted(config, "concurrency") if rate is None else None,
        rate=rate,
        requests=_counted(config, "request_count"),
        input_tokens=_counted(config, "synthetic_input_tokens_mean"),
        output_tokens=_counted(config, "output_tokens_mean"),
        lengths_vary=any(
            above_zero(config, name) is not None
            for name in ("synthetic_input_tokens_stddev", "output_tokens_stddev")
        ),
        ignore_eos=_ignores_eos(config.get("extra_inputs")),
    )


def _objects(value: object) -> list[Document]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _only(values: object) -> Document:
    """Return the one object there is; of several nobody knows which the numbers are of."""
    found = _objects(values if isinstance(values, list) else list(_iterated(values)))
    return found[0] if len(found) == 1 else {}


def _iterated(values: object) -> Iterable[object]:
    return values if isinstance(values, Iterable) and not isinstance(values, str | dict) else ()


def _is_measured(phase: Document) -> bool:
    return not {text(phase, "kind"), text(phase, "name")} & _NOT_MEASURED


def _texts(value: object) -> list[str | None]:
    values = value if isinstance(value, list) else [value]
    return [text({"": each}, "") for each in values]


def _named(names: Iterable[str | None]) -> str | None:
    """Return models by the last part of their names: where they lie says nothing of their speed."""
    found = [name.rstrip("/").rpartition("/")[2] for name in names if name and name.strip("/")]
    return ",".join(found) or None


def _switch(document: Document, name: str) -> bool | None:
    value = document.get(name)
    return value if isinstance(value, bool) else None


def _counted(document: Document, name: str) -> int | None:
    """Return a count above zero: 0 and -1 stand for 'not asked'."""
    count = whole(document, name)
    return count if count is not None and count > 0 else None


def _varies(lengths: Document) -> bool:
    return any(
        above_zero(lengths, name) is not None or is_not_finite(lengths, name)
        for name in ("stddev", "std")
    )


def _ignores_eos(extra: object) -> bool:
    """Return whether a request's further fields ask to go past the end mark.

    They are an object, a list of pairs, or a list of 'name:value'.
    """
    if isinstance(extra, Mapping):
        return str(extra.get("ignore_eos", "")).casefold() == "true"
    written = [str(each).casefold() for each in extra] if isinstance(extra, list) else []
    return any("ignore_eos" in each and "true" in each for each in written)
