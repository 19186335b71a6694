"""`kunline import` on a real service: files in, counts out, and nothing twice or half."""

import gzip
import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from service.client import connected
from tests import results
from tests.integration.import_folder import (
    CONDITION,
    STACK,
    STATED,
    bring,
    call,
    counts,
    different,
    number_of_runs,
    prepare,
)
from tests.integration.serving import application, served
from tests.tracked_files import ROOT

GUIDE = ROOT / "docs" / "importing.md"
FILES = re.compile(r"^`([\w.-]+\.yaml)`:\n\n```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return prepare(tmp_path, monkeypatch)


@pytest.fixture
def address(engine: Engine, here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with served(application(engine, here.parent)) as found:
        monkeypatch.setenv("KUNLINE_URL", found)
        yield found


def test_a_batch_reports_what_became_of_each(address: str, here: Path) -> None:
    fine, zero = different(3), results.serving(median_ttft_ms=0.0)
    other = results.serving(max_concurrency=16)
    text = results.lines([*fine, zero, other, fine[0]]) + b"{cut\n"
    (here / "out.jsonl").write_bytes(text)

    planned = bring("out.jsonl", "--dry-run")
    code, done = bring("out.jsonl")

    assert counts(done) == (3, 1, 1, 1, 1)
    assert code == 5
    assert planned[0] == code
    assert counts(planned[1]) == counts(done)
    refused = next(each for each in done["results"] if each["state"] == "refused")
    assert refused["differences"] == [
        {"field": "traffic.concurrency", "baseline": "8", "candidate": "16"}
    ]


@pytest.mark.parametrize(
    ("said", "changed_at"),
    [
        (("--measured-at", "9999-12-31"), None),
        (("--measured-at", "0001-01-01"), None),
        (("--measured-at", "2019-12-31"), None),
        ((), 0),
        ((), 315_532_800),
        ((), 100_000_000_000),
    ],
    ids=["said: far ahead", "said: year one", "said: too early", "1970", "1980", "year 5138"],
)
def test_a_time_at_which_nothing_was_measured_is_refused_before_anything_is_sent(
    said: tuple[str, ...], changed_at: int | None, here: Path, engine: Engine
) -> None:
    results.write(here / "out.jsonl", different(1))
    if changed_at is not None:
        os.utime(here / "out.jsonl", (changed_at, changed_at))

    found = call("import", "out.jsonl", *STATED, *said)

    assert found.exit_code == 2
    assert "--measured-at" in found.stderr
    assert number_of_runs(engine) == 0


@pytest.mark.parametrize(
    "reason",
    ["", "  ", "x" * 5000, "two\nlines", "a\x1b[31mred", "a\0b", "half \ud800"],
    ids=["nothing", "blanks", "a book", "lines", "a colour", "a zero", "half a character"],
)
@pytest.mark.parametrize("act", ["withdraw", "restore"])
def test_a_reason_that_is_none_is_wrong_usage(act: str, reason: str, here: Path) -> None:
    run_id = "00000000-0000-0000-0000-000000000000"

    found = call("runs", act, run_id, "--reason", reason)

    assert found.exit_code == 2
    assert "--reason" in found.stderr


def test_a_dry_run_stores_nothing(address: str, here: Path, engine: Engine) -> None:
    results.write(here / "out.jsonl", different(2))

    found = call(
        "import", "out.jsonl", "--condition", "condition.yaml", "--stack", STACK, "--dry-run"
    )

    assert number_of_runs(engine) == 0
    assert "would be: 2 stored" in found.stdout


def test_copies_under_any_name_and_shape_are_duplicates(address: str, here: Path) -> None:
    data = results.lines(different(2))
    (here / "out.jsonl").write_bytes(data)
    bring("out.jsonl")
    (here / "renamed.json").write_bytes(data)
    (here / "packed.jsonl.gz").write_bytes(gzip.compress(data))
    (here / "windows.jsonl").write_bytes(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"))
    (here / "both.jsonl").write_bytes(data + results.lines(different(3)))

    copies = bring("renamed.json", "packed.jsonl.gz", "windows.jsonl")
    stdin = bring("-", stdin=data)
    both = bring("both.jsonl")

    assert (copies[0], counts(copies[1])) == (0, (0, 6, 0, 0, 0))
    assert (stdin[0], counts(stdin[1])) == (0, (0, 2, 0, 0, 0))
    assert counts(both[1]) == (1, 4, 0, 0, 0)


def test_the_tools_own_text_is_kept_byte_for_byte_but_for_its_secrets(
    address: str, here: Path
) -> None:
    line = json.dumps(results.serving()).encode()
    secret = line.replace(b'"api_key": null', b'"api_key": "sk-abcdefghijklmnopqrstuvwxyz"')
    (here / "out.jsonl").write_bytes(line + b"\r\n" + secret + b"\n")

    _, document = bring("out.jsonl")

    with connected(address) as client:
        runs = [client.run(each["run_id"]) for each in document["results"]]
        texts = [client.artefact(run.artefacts[0].digest) for run in runs]
    assert texts[0] == line
    assert b"sk-abc" not in texts[1]
    assert b"redacted" in texts[1]


def test_lines_of_one_file_are_one_launch_unless_it_is_said_otherwise(
    address: str, here: Path
) -> None:
    results.write(here / "one.jsonl", different(3))
    results.write(here / "each.jsonl", different(6)[3:])

    _, one = bring("one.jsonl")
    _, each = bring("each.jsonl", "--launch-per", "line")

    with connected(address) as client:
        launches = [
            {client.run(found["run_id"]).run.launch_id for found in document["results"]}
            for document in (one, each)
        ]
    assert [len(found) for found in launches] == [1, 3]


def test_rows_of_a_csv_that_read_alike_are_results_of_their_own(address: str, here: Path) -> None:
    (here / "map.yaml").write_text(
        "tool: sglang.bench_serving\n"
        "condition: {concurrency: 8}\n"
        "columns:\n"
        "  Out (tok/s): {metric: output_throughput, unit: tok/s}\n"
    )
    (here / "sheet.csv").write_text("Out (tok/s),note\n150.1,a\n150.2,b\n150.2,b\n")
    (here / "copy.csv").write_bytes((here / "sheet.csv").read_bytes())

    first = bring("sheet.csv", "--mapping", "map.yaml")
    again = bring("sheet.csv", "copy.csv", "--mapping", "map.yaml")

    assert counts(first[1]) == (3, 0, 0, 0, 0)
    assert counts(again[1]) == (0, 6, 0, 0, 0)


def test_two_imported_runs_are_compared_by_their_ids(address: str, here: Path) -> None:
    results.write(here / "out.jsonl", different(2))
    _, document = bring("out.jsonl", "--host", "h1")
    ids = [each["run_id"] for each in document["results"]]

    call("runs", "withdraw", ids[1], "--reason", "a stranger on the cards")
    after = call("compare", *ids, "--json")
    shown = call("runs", ids[1])
    listed = call("runs", "--json")

    assert after.exit_code == 5
    assert "a stranger on the cards" in after.stdout
    assert "withdrawn" in shown.stdout
    assert [run["withdrawn"] for run in json.loads(listed.stdout)["runs"]].count(True) == 1


def test_runs_are_listed_whole_and_found_by_their_stack_s_name(address: str, here: Path) -> None:
    results.write(here / "out.jsonl", different(2))
    _, document = bring("out.jsonl", "--host", "h1")

    by_name = call("runs", "--stack", STACK)
    by_key = call("runs", "--stack", document["stack_key"][:12])

    for each in document["results"]:
        assert each["run_id"] in by_name.stdout
    assert f"{STACK} ({document['stack_key'][:12]})" in by_name.stdout
    assert "ttft_p50 70" in by_name.stdout
    assert by_key.stdout == by_name.stdout
    assert call("runs", "--stack", "cpu-0.0.0").exit_code == 2
    assert "all 64 digits" in call("runs", "--condition", "ed2ac6").stderr
    assert call("compare", STACK, STACK).exit_code == 4


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        pytest.param(
            ("model: tiny-llama", "model: tiny-lama"),
            "condition.yaml:1: model: no model 'tiny-lama'; did you mean 'tiny-llama'?",
            id="a model that is not there",
        ),
        pytest.param(
            ("concurrency: 8", "concurency: 8"),
            "condition.yaml:6: concurency: no such field; did you mean 'concurrency'?",
            id="a field misspelt",
        ),
        pytest.param(
            ("concurrency: 8", "rate: 2.0"),
            "condition.yaml:6: rate: measured is a closed load: it has a concurrency",
            id="a rate of a closed load",
        ),
        pytest.param(
            ("seeds: [1]", "prompts: 96"),
            "condition.yaml:1: seeds: this field is missing",
            id="no seeds",
        ),
        pytest.param(
            ("measured.yaml", "measure.yaml"), "measure.yaml:1: cannot be read", id="no such file"
        ),
        pytest.param(
            ("measured_by: {tool: sglang.bench_serving, version: 0.5.23}\n", ""),
            "say either client or measured_by, and not both",
            id="no client",
        ),
    ],
)
def test_what_is_wrong_in_a_condition_is_named(
    here: Path, changed: tuple[str, str], told: str
) -> None:
    (here / "condition.yaml").write_text(CONDITION.replace(*changed))

    found = call("import", "out.jsonl", *STATED)

    assert found.exit_code == 2
    assert told in found.stderr


def test_an_unknown_stack_is_named_with_the_nearest_one(here: Path) -> None:
    found = call(
        "import", "x.jsonl", "--condition", "condition.yaml", "--stack", "cpu-sglang-0.5.2"
    )

    assert found.exit_code == 2
    assert "did you mean" in found.stderr


def test_a_stack_file_may_lie_anywhere(address: str, here: Path) -> None:
    stack = here / "mine.yaml"
    stack.write_text(
        "name: mine\nchip: cpu\nbuilt_at: 2026-10-30\n"
        "components:\n  - {name: sglang, version: 0.5.23, layer: server, scope: process}\n"
        "verified: {state: unverified}\n"
    )
    results.write(here / "out.jsonl", different(1))

    found = call("import", "out.jsonl", "--condition", "condition.yaml", "--stack", stack)

    assert found.exit_code == 0, found.output
    assert "1 stored" in found.stdout


def test_the_guide_does_what_it_says(
    address: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run every command of the guide's example, on files such as it speaks of."""
    text = GUIDE.read_text().partition("## An example")[2].partition("\n## ")[0]
    for name, content in re.findall(
        r"^`([\w.-]+\.yaml)`:\n\n```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL
    ):
        (here / name).write_text(content)
    (here / "results").mkdir()
    results.write(here / "results" / "night-1.jsonl", different(4))
    results.write(here / "results" / "night-2.jsonl", different(8)[4:])
    blocks = COMMANDS.findall(text)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines() if line]
    run_id = ""
    said = []
    for line in lines:
        words = [word.replace("RUN", run_id) for word in shlex.split(line, comments=True)[1:]]
        found = call(*words)
        said.append((line, found.exit_code))
        run_id = run_id or newest_run(address)

    assert [code for _, code in said] == [0] * len(lines), said
    assert len(lines) >= 5


def newest_run(address: str) -> str:
    with connected(address) as client:
        page = client.runs(limit=1)
    return str(page.runs[0].id) if page.runs else ""
