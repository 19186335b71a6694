"""`kunline qualify` from its first measurement to a signed page, with a reboot in between."""

import json
import re
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL, Popen
from threading import Event
from uuid import UUID

import pytest
import typer
from typer.testing import CliRunner

from service.cli.dossier_words import Language
from service.cli.qualify import qualify
from service.client import Client, connected
from service.formats.qualifications import QualificationRead
from service.store.database import create_database
from tests.bench import qualify as bench
from tests.golden_file import assert_golden
from tests.integration import builders
from tests.integration.serving import application, served
from tests.matrix_directory import FILES, matrix_directory

OLD, NEW = "cpu-0.5.18", "cpu-0.5.23"
PLAN = FILES["plans/small.yaml"].partition("  - workload: arrivals")[0]
OFTEN = PLAN.replace("  two-cards: {tp: 2}\n", "").replace(
    "seeds: [7, 8, 9]", "seeds: [7, 8, 9]\nlaunches: 3\nrepeats: 3"
)
HOSTS = ("h1", "h2")
POLL_S = 0.02

app = typer.Typer()
app.command()(qualify)


@pytest.fixture
def address(migrated_file: Path, tmp_path: Path) -> Iterator[str]:
    (tmp_path / "kunline.db").write_bytes(migrated_file.read_bytes())
    engine = create_database(f"sqlite:///{tmp_path / 'kunline.db'}", connections=10)
    with served(application(engine, tmp_path)) as at:
        yield at
    engine.dispose()


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    newer = FILES["stacks/cpu-0.5.23.yaml"].replace('version: "5.0"', 'version: "5.1"')
    changed = {"stacks__cpu-0.5.23": newer, "plans__small": OFTEN}
    return matrix_directory(tmp_path / "matrix", **changed)


@contextmanager
def runners_at(url: str, *, life: int, new: float, slowed: str = NEW) -> Iterator[None]:
    """Do whatever jobs there are on both hosts. life: which one since their machines were started.

    new: how much slower the new stack is; slowed: its name.
    """
    over = Event()

    def work(host: str) -> None:
        with connected(url) as client:
            while not over.wait(POLL_S):
                do_one(client, host, life=life, slower={slowed: new})

    with ThreadPoolExecutor(len(HOSTS)) as pool:
        working = [pool.submit(work, host) for host in HOSTS]
        try:
            yield
        finally:
            over.set()
            for each in working:
                each.result()


def do_one(client: Client, host: str, *, life: int, slower: Mapping[str, float]) -> None:
    claim = builders.claim(
        f"r-{host}", host=host, pool="local", cards=4, incarnation=UUID(int=life)
    )
    if (order := client.claim(claim)) is None:
        return
    told = builders.launch_report(order, launch_id=order.job_id)
    client.report_launch(told.model_copy(update={"host": host}))
    scale = (1 + order.ordinal % 3 / 200) * slower.get(order.stack.stack.name, 1.0)
    for cell in range(len(order.launch.cells)):
        sent = builders.run_report(order, cell=cell, launch_id=order.job_id, scale=scale)
        client.report_run(sent)
    client.finish(order.job_id, order.fencing_token)


def run(address: str, matrix: Path, *words: str) -> tuple[int, str]:
    answer = CliRunner().invoke(app, [*words, "--matrix", str(matrix), "--url", address])
    return answer.exit_code, answer.stdout if "--json" in words else answer.output


def opened(address: str, matrix: Path) -> str:
    words = ("--plan", "small", "--from", OLD, "--to", NEW, "--canary", "h1", "--control", "h2")
    code, out = run(address, matrix, *words)
    found = re.search(r"qualification ([0-9a-f-]{36}): next is to change", out)
    assert (code, found is not None) == (0, True), out
    assert "[ ] reboot: reboot the host" in out
    return found[1] if found else ""


def test_an_equal_stack_is_kept_and_its_page_says_so(
    address: str, matrix: Path, tmp_path: Path
) -> None:
    with runners_at(address, life=1, new=1.0):
        name = opened(address, matrix)
    # Both machines were down in between: other lives of the runners go on.
    with runners_at(address, life=2, new=1.0):
        code, out = run(address, matrix, "--resume", name, "--changed", "--json")
    page = tmp_path / "dossier.md"
    kept = run(address, matrix, "--resume", name, "--keep", "--dossier", str(page), "--lang", "zh")

    told = json.loads(out)
    assert (code, told["answer"]) == (0, "yes")
    assert {cell["outcome"] for cell in told["cells"]} == {"unchanged"}
    assert {tuple(cell["launches"]) for cell in told["cells"]} == {(3, 3, 3, 3)}
    assert kept[0] == 0
    assert "可以升级：所有单元的劣化都在容忍度之内" in page.read_text()


def test_a_slower_stack_is_rolled_back_and_measured_again(address: str, matrix: Path) -> None:
    with runners_at(address, life=1, new=1.2):
        name = opened(address, matrix)
    with runners_at(address, life=2, new=1.2):
        code, out = run(address, matrix, "--resume", name, "--changed", "--json")
        asked = run(address, matrix, "--resume", name, "--roll-back", "--note", "too slow")
        gone = run(address, matrix, "--resume", name, "--rolled-back", "--json")

    told, back = json.loads(out), json.loads(gone[1])
    assert (code, told["answer"]) == (3, "yes, with costs")
    for cell in told["cells"]:
        by_metric = {each["metric"]: each for each in cell["verdicts"]}
        assert by_metric["tpot_p50"]["worsening"] == pytest.approx(0.2, abs=0.005)
        assert by_metric["tpot_p50"]["low"] > 0.15
        assert by_metric["tpot_p50"]["smallest_detectable"] > 0
    assert (asked[0], "roll back" in asked[1]) == (3, True)
    assert {cell["outcome"] for cell in back["restored"]} == {"unchanged"}
    assert back["qualification"]["step"] == "done"


def test_whoever_resumes_while_sessions_run_follows_those(address: str, tmp_path: Path) -> None:
    one_host = matrix_directory(tmp_path / "matrix", plans__small=OFTEN)
    words = ("--plan", "small", "--from", OLD, "--to", NEW, "--canary", "h1")
    place = ("--matrix", str(one_host), "--url", address)
    left = Popen([sys.executable, "-m", "service.cli", "qualify", *words, *place], stdout=DEVNULL)
    with connected(address) as client:
        while not (found := client.ask_all(QualificationRead, "qualifications")) or not (
            found[0].content.sessions
        ):
            assert left.poll() is None
            time.sleep(POLL_S)
        left.terminate()
        left.wait(10)
        with runners_at(address, life=1, new=1.0):
            code, out = run(address, one_host, "--resume", str(found[0].id))

        assert (code, "next is to decide" in out) == (0, True), out
        assert len(client.sessions()) == 1


def test_the_page_of_the_real_bench_is_this_one_but_for_its_figures(
    address: str, tmp_path: Path
) -> None:
    root = bench.matrix(tmp_path)
    both = ("--plan", "often", "--from", bench.OLD, "--to", bench.NEW)
    with runners_at(address, life=1, new=1.9, slowed=bench.NEW):
        run(address, root, *both, "--canary", "h1", "--control", "h2")
        with connected(address) as client:
            (found,) = client.ask_all(QualificationRead, "qualifications")
        words = ("--resume", str(found.id), "--note", "firmware")
        for done in ("--changed", "--roll-back", "--rolled-back"):
            run(address, root, *words, done)

    for language in Language:
        page = tmp_path / f"dossier.{language}.md"
        run(address, root, *words[:2], "--lang", language, "--dossier", str(page))
        assert_golden(f"dossier_of_real_stacks.{language}.md", bench.normal(page.read_text()))


@pytest.mark.parametrize(
    ("new", "answer", "code"),
    [pytest.param(1.0, "yes", 0, id="equal"), pytest.param(1.2, "yes, with costs", 3, id="slower")],
)
def test_where_nothing_needs_a_reboot_both_stacks_take_turns_on_one_host(
    address: str, tmp_path: Path, new: float, answer: str, code: int
) -> None:
    one_host = matrix_directory(tmp_path / "matrix", plans__small=OFTEN)
    page = tmp_path / "dossier.md"
    words = ("--plan", "small", "--from", OLD, "--to", NEW, "--canary", "h1")
    with runners_at(address, life=1, new=new):
        found, out = run(address, one_host, *words, "--json")
    told = json.loads(out)
    name = told["qualification"]["id"]
    signed = run(address, one_host, "--resume", name, "--roll-back", "--dossier", str(page))

    assert (found, told["answer"]) == (code, answer)
    assert (told["qualification"]["content"]["way"], told["qualification"]["step"]) == (
        "interleaved",
        "decide",
    )
    assert {tuple(cell["launches"]) for cell in told["cells"]} == {(3, 3)}
    for cell in told["cells"]:
        by_metric = {each["metric"]: each for each in cell["verdicts"]}
        assert by_metric["tpot_p50"]["worsening"] == pytest.approx(new - 1, abs=0.015)
    assert (signed[0], "next is to done" in signed[1]) == (code, True)
    text = page.read_text()
    assert "Interleaved on one host, h1" in text
    assert "Nothing on the host was changed for this" in text
    assert "not taken over, decided by" in text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param([], "name a control", id="a reboot without a control"),
        pytest.param(["--way", "interleaved"], "need a reboot", id="a reboot in turn"),
    ],
)
def test_what_needs_a_reboot_is_never_measured_in_turn(
    address: str, matrix: Path, words: list[str], told: str
) -> None:
    both = ("--plan", "small", "--from", OLD, "--to", NEW, "--canary", "h1")

    code, out = run(address, matrix, *both, *words)

    assert (code, told in out) == (2, True), out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(["--plan", "small"], 2, id="half of what is needed"),
        pytest.param(
            ["--plan", "small", "--from", OLD, "--to", NEW, "--canary", "h1", "--control", "h1"],
            2,
            id="a host that is its own control",
        ),
        pytest.param(
            ["--plan", "small", "--from", OLD, "--to", OLD, "--canary", "h1", "--control", "h2"],
            2,
            id="two stacks that are one",
        ),
        pytest.param(["--resume", str(UUID(int=9))], 2, id="one that nobody opened"),
    ],
)
def test_wrong_usage_opens_nothing(address: str, matrix: Path, words: list[str], code: int) -> None:
    found, _ = run(address, matrix, *words)

    with connected(address) as client:
        assert (found, client.sessions()) == (code, ())


def test_a_step_out_of_turn_is_refused(address: str, matrix: Path) -> None:
    with runners_at(address, life=1, new=1.0):
        name = opened(address, matrix)

    code, out = run(address, matrix, "--resume", name, "--keep")

    assert (code, "the next step is to change" in out) == (2, True)
