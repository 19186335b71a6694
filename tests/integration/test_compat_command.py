"""`kunline compat …` as a person and a deployment script call it, on a served database."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from service.cli.compat import compats
from service.domain.layer import Layer
from service.formats.reports import Broken
from service.store.database import create_database
from tests.integration import builders, path
from tests.integration.builders import NEW, OLD
from tests.integration.pages import dated, pin
from tests.integration.serving import application, served
from tests.matrix_directory import matrix_directory

SLOW = builders.stack("0.5.19")
WRONG = builders.stack("0.5.20")
HERE = {"sglang": "0.5.23", "torch": "2.9.1", "kernel": "6.8"}


@pytest.fixture(scope="module")
def address(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("compat")
    (place / "kunline.db").write_bytes(migrated_file.read_bytes())
    engine = create_database(f"sqlite:///{place / 'kunline.db'}", connections=10)
    measure(engine)
    with served(application(engine, place)) as at:
        yield at
    engine.dispose()


def measure(engine: Engine) -> None:
    order = dated(builders.session_order(arms=(OLD, NEW, SLOW) * 3))
    path.do_session(engine, order, scales={SLOW.name: 1.5})
    pin(engine, OLD)
    path.submit(engine, builders.session_order(arms=(WRONG,), baseline=None), "broken")
    job = path.claimed(engine)
    broken = Broken(layer=Layer.SERVER, finding="ImportError: [transformers]")
    path.tell_launch(engine, builders.launch_report(job, launch_id=job.job_id, broken=broken))
    path.finish(engine, job)


def run(address: str, *words: str) -> tuple[int, str]:
    answer = CliRunner().invoke(compats, [*words, "--url", address])
    return answer.exit_code, answer.output


@pytest.mark.parametrize(
    ("to", "code"),
    [
        pytest.param(NEW.name, 0, id="yes"),
        pytest.param(SLOW.name, 3, id="yes, with costs"),
        pytest.param(WRONG.name, 5, id="no"),
    ],
)
def test_check_ends_with_the_answer(address: str, to: str, code: int) -> None:
    found, out = run(address, "check", "--from", OLD.name, "--to", to)

    assert found == code
    assert f"sglang: {OLD.versions['sglang']} → " in out


def test_check_of_an_unknown_stack_is_unknown_and_says_what_to_measure(address: str) -> None:
    code, out = run(address, "check", "--from", OLD.name, "--set", "torch=2.10.0")

    assert code == 4
    assert "nearest tested: cpu-0.5.18, works; it differs in torch 2.9.1 ≠ 2.10.0" in out
    assert f"kunline run demo --stack {OLD.name} --stack {OLD.name} --with torch=2.10.0" in out


def test_check_as_a_document_is_one_document(address: str) -> None:
    _, out = run(address, "check", "--from", OLD.name, "--to", SLOW.name, "--json")

    assert json.loads(out)["answer"] == "yes, with costs"


@pytest.mark.parametrize(
    ("layout", "first"),
    [
        pytest.param("table", "stack ", id="aligned"),
        pytest.param("markdown", "| stack | key |", id="markdown"),
        pytest.param("csv", "stack,key,", id="csv"),
        pytest.param("html", "<!doctype html>", id="html"),
        pytest.param("json", "[{", id="json"),
    ],
)
def test_the_table_is_written_in_every_layout(address: str, layout: str, first: str) -> None:
    code, out = run(address, "show", "--format", layout)

    assert code == 0
    assert out.startswith(first)
    assert all(each.name in out for each in (OLD, NEW, SLOW, WRONG))
    assert "transformers" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(["show"], "不可用", id="a state"),
        pytest.param(["show", "--format", "html"], '<html lang="zh-CN">', id="a page"),
        pytest.param(["show", "--stack", SLOW.name], "tpot_p50 劣化 +50.0 %", id="one stack"),
        pytest.param(
            ["show", "--cell", builders.condition(concurrency=1).key],
            "最新测过的 cpu-0.5.19 可用",
            id="a history",
        ),
        pytest.param(
            ["check", "--from", OLD.name, "--to", SLOW.name],
            "可以，但有代价：2 个单元中有 2 个变差",
            id="an upgrade",
        ),
        pytest.param(["plan"], "卡时", id="a plan"),
    ],
)
def test_everything_is_said_in_chinese(address: str, words: list[str], told: str) -> None:
    _, out = run(address, *words, "--lang", "zh")

    assert told in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(["--stack", SLOW.name], "tpot_p50 worse by +50.0 %", id="one stack"),
        pytest.param(["--by", "sglang", "--by", "torch"], "sglang \\ torch", id="turned"),
        pytest.param(
            ["--cell", builders.condition(concurrency=1).key, "--by", "sglang"],
            "works in the newest that was tested, sglang 0.5.19",
            id="the history of a cell",
        ),
        pytest.param(["--state", "broken"], "server: ImportError", id="a state"),
        pytest.param(["--with", "sglang=9.9"], "Nothing like that was measured", id="none"),
    ],
)
def test_the_table_is_looked_at_from_every_side(address: str, words: list[str], told: str) -> None:
    code, out = run(address, "show", *words)

    assert (code, told in out) == (0, True), out


@pytest.mark.parametrize(
    ("installed", "code", "told"),
    [
        pytest.param(HERE, 0, "yes: this is cpu-0.5.23", id="a stack that works"),
        pytest.param({**HERE, "sglang": "0.5.19"}, 3, "yes, with costs: this", id="a slow one"),
        pytest.param({**HERE, "sglang": "0.5.20"}, 5, "no: this is cpu-0.5.20", id="a broken one"),
        pytest.param(
            {**HERE, "torch": "2.8"}, 4, "torch: 2.9.1 ≠ 2.8", id="none of the table's stacks"
        ),
        pytest.param({"sglang": "0.5.23"}, 0, "not seen here: torch", id="not all of it seen"),
    ],
)
def test_what_is_installed_is_held_to_a_snapshot(
    address: str, tmp_path: Path, installed: dict[str, str], code: int, told: str
) -> None:
    (tmp_path / "here.json").write_text(json.dumps(installed))
    run(address, "snapshot", "--out", str(tmp_path / "compat.json"))

    away = CliRunner().invoke(
        compats,
        [
            *("verify", str(tmp_path / "here.json")),
            *("--snapshot", str(tmp_path / "compat.json"), "--url", "http://127.0.0.1:9"),
        ],
    )

    assert away.exit_code == code
    assert told in away.output
    assert "(today)" in away.output


def test_what_is_installed_is_held_to_the_service(address: str, tmp_path: Path) -> None:
    (tmp_path / "here.json").write_text(json.dumps(HERE))

    code, out = run(address, "verify", str(tmp_path / "here.json"), "--json")

    assert (code, json.loads(out)["matched"]) == (0, True)


def test_this_host_is_asked_by_itself_what_is_installed(address: str) -> None:
    code, out = run(address, "verify", "--python", sys.executable, "--chip", "cpu")

    assert (code, out.startswith("unknown: ")) == (4, True), out


def test_without_a_file_and_a_python_nobody_can_be_asked(address: str) -> None:
    assert run(address, "verify")[0] == 2


@pytest.mark.parametrize("text", ["", "[]", '{"torch": 2}'])
def test_a_file_that_tells_nothing_is_wrong_usage(address: str, tmp_path: Path, text: str) -> None:
    (tmp_path / "here.json").write_text(text)

    assert run(address, "verify", str(tmp_path / "here.json"))[0] == 2


def test_the_constraints_of_a_matrix_are_declared_and_taken_back(
    address: str, tmp_path: Path
) -> None:
    matrix = matrix_directory(tmp_path / "matrix")
    (matrix / "constraints.yaml").write_text(
        "constraints:\n  - {name: torch-of-today, then: {torch: '>=2.10'}, source: notes}\n"
    )
    words = ("--matrix", str(matrix), "--why", "new notes")

    declared = run(address, "declare", *words)
    gone = run(address, "retract", "torch-of-today", "--why", "wrong")

    assert declared[0] == 0
    assert "torch-of-today  needs torch >=2.10" in declared[1]
    assert gone == (0, "torch-of-today is taken back\n")
    assert run(address, "constraints") == (0, "Nothing is declared.\n")


def test_what_to_measure_next_is_proposed_with_its_command(address: str) -> None:
    run(address, "check", "--from", OLD.name, "--set", "torch=2.11.0")

    code, out = run(address, "plan", "--budget", "8")

    assert code == 0
    assert "--with torch=2.11.0" in out
