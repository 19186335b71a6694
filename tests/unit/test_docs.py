"""The documents promise only what exists: commands, options, links, settings, gates, metrics."""

import re
import shlex
from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import typer
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from service.cli.exit_codes import EXIT_CODE
from service.domain.assumption import NEEDED
from service.domain.condition import Condition
from service.domain.metric import METRICS
from service.domain.policy import Policy
from service.domain.tail import LEAST_REQUESTS
from service.domain.validity import SETTLED_BY_EVERY_RUNNER, Gate
from tests.tracked_files import ROOT, text_of, tracked_files

DOCUMENTS = tuple(path for path in tracked_files() if path.suffix == ".md")
COMPARISON = Path("docs/comparison.md")
OPERATIONS = Path("docs/operations.md")
DECISIONS = Path("docs/adr")

FENCED = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", flags=re.MULTILINE | re.DOTALL)
COMMAND_LINE = re.compile(
    r" *(?:\$ )?(?:[A-Z_]+=\S+ )*(?:docker compose run --rm \w+ |\.venv/bin/)?(kunline .*)"
)
INLINE = re.compile(r"`((?:\.venv/bin/)?kunline [^`]+)`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
DEV_COMMAND = re.compile(r"\./dev ([a-z]+)")


def command_tree() -> Any:
    """Return the `kunline` command as typer's own click sees it."""
    return typer.main.get_command(import_module("service.cli.main").main)


def commands_in(path: Path) -> Iterator[str]:
    """Yield every `kunline …` command line of a document, in fences and in running text."""
    text = text_of(path)
    for _, block in FENCED.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            if found := COMMAND_LINE.match(line):
                yield found[1].partition(" #")[0].strip()
    for line in INLINE.findall(FENCED.sub("", text)):
        yield line.removeprefix(".venv/bin/")


def problem_of(line: str, tree: Any) -> str | None:
    """Return what is wrong with a command line, or None: unknown commands and options.

    Words that stand for something (a file, a key) are not looked at, nor are options of commands
    that pass theirs on to another process.
    """
    words = shlex.split(line)[1:]
    command, position = tree, 0
    while (below := getattr(command, "commands", None)) and position < len(words):
        word = words[position]
        if word.startswith("-"):
            break
        if word not in below:
            return f"no command {word!r} in {line!r}"
        command, position = below[word], position + 1
    if command.context_settings.get("allow_extra_args"):
        return None
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
    asked = {word.partition("=")[0] for word in words[position:] if word.startswith("-")}
    unknown = asked - known - {"--help", "-"}
    return f"no option {sorted(unknown)} in {line!r}" if unknown else None


def settings_table(text: str, heading: str) -> dict[str, str]:
    """Return the defaults that a table of settings names, by variable, below a heading."""
    section = text.partition(f"\n### {heading}\n")[2].partition("\n#")[0]
    return dict(re.findall(r"^\| `(KUNLINE_\w+)` \| (.*?) \|", section, flags=re.MULTILINE))


def default_in_words(field: FieldInfo) -> str:
    """Return a setting's default as the table shows it."""
    if field.is_required():
        return "(required)"
    if field.default_factory is not None:
        return "(of the host)"
    value: Any = field.default
    match value.get_secret_value() if isinstance(value, SecretStr) else value:
        case None | "" | ():
            return "(empty)"
        case timedelta():
            return f"`{value.total_seconds():g}`"
        case Path() if value.is_absolute():
            return f"`{value.relative_to(ROOT)}`"
        case _:
            return f"`{value}`"


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_every_command_named_exists_with_its_options(path: Path) -> None:
    tree = command_tree()
    problems = [problem for line in commands_in(path) if (problem := problem_of(line, tree))]

    assert problems == []


def test_a_command_that_does_not_exist_is_found() -> None:
    tree = command_tree()

    assert problem_of("kunline foretell tomorrow", tree) is not None
    assert problem_of("kunline compare a b --by-magic", tree) is not None
    assert problem_of("kunline compare a b --tolerance 0.05", tree) is None


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_every_dev_command_named_exists(path: Path) -> None:
    known = set(re.findall(r"^\./dev ([a-z]+) ", text_of(Path("dev")), flags=re.MULTILINE))

    assert set(DEV_COMMAND.findall(text_of(path))) - known == set()


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    targets = [
        unquote(target.partition("#")[0])
        for target in LINK.findall(FENCED.sub("", text_of(path)))
        if not target.startswith(("https://", "http://", "mailto:", "#"))
    ]
    lost = [target for target in targets if not (ROOT / path.parent / target).exists()]

    assert lost == []


@pytest.mark.parametrize(
    ("heading", "module"),
    [("The service", "service.config"), ("A runner", "runners.config")],
)
def test_the_settings_tables_say_what_the_code_reads(heading: str, module: str) -> None:
    settings = import_module(module).Settings
    prefix = settings.model_config["env_prefix"]
    read = {
        f"{prefix}{name}".upper(): default_in_words(field)
        for name, field in settings.model_fields.items()
    }

    assert settings_table(text_of(OPERATIONS), heading) == read


def test_the_comparison_page_lists_exactly_the_gates_in_their_order() -> None:
    table = text_of(COMPARISON).partition("| gate | what must hold |")[2].partition("\n\n")[0]

    assert re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE) == [gate.value for gate in Gate]


def test_the_comparison_page_says_which_unknowns_a_runner_must_settle() -> None:
    told = text_of(COMPARISON).partition("log of the server it started:")[2].partition("\n")[0]

    assert set(re.findall(r"`(\w+)`", told)) == SETTLED_BY_EVERY_RUNNER


def test_the_comparison_page_lists_exactly_the_fields_that_files_must_tell() -> None:
    told = text_of(COMPARISON).partition("\nThe fields: ")[2].partition("\n")[0]

    assert re.findall(r"`(\w+)`", told) == list(NEEDED)


def test_the_comparison_page_gives_the_least_requests_of_every_tail() -> None:
    told = re.findall(r"(p9\d) (?:is offered )?from (\d+)", text_of(COMPARISON))

    assert {tail: int(least) for tail, least in told} == LEAST_REQUESTS


def test_the_comparison_page_gives_the_exit_code_of_every_outcome() -> None:
    text = text_of(COMPARISON)
    rows = {
        outcome.strip(): int(code)
        for code, words in re.findall(r"^\| \*\*(\d)\*\* \| (.*?) \|", text, flags=re.MULTILINE)
        for outcome in words.split(",")
    }

    assert {outcome.value: code for outcome, code in EXIT_CODE.items()}.items() <= rows.items()


def test_the_comparison_page_gives_the_tolerance_of_every_metric() -> None:
    policy, text = Policy(), text_of(COMPARISON)
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", text, flags=re.MULTILINE))
    expected = {
        metric.name.rpartition("_")[0]
        if metric.name.rpartition("_")[0] in {"ttft", "tpot", "itl", "e2e"}
        else metric.name: policy.tolerance_of(metric)
        for metric in METRICS.values()
    }

    assert {name: float(value) for name, value in rows.items()} == expected


def test_the_readme_and_its_chinese_twin_show_the_same_commands() -> None:
    english, chinese = (
        re.findall(r"^(?:\.venv/bin/kunline|\./dev) [^#\n]*", text_of(Path(name)), re.MULTILINE)
        for name in ("README.md", "README.zh-CN.md")
    )

    assert english
    assert english == chinese


def test_the_glossary_explains_every_part_of_a_condition() -> None:
    text = text_of(Path("docs/glossary.md"))

    assert "**condition**" in text
    assert set(Condition.__dataclass_fields__) <= set(re.findall(r"`(\w+)`", text))


def test_the_index_of_decisions_lists_every_decision_once_and_in_order() -> None:
    records = sorted(
        path.name for path in tracked_files() if path.parent == DECISIONS and path.name[0].isdigit()
    )
    listed = re.findall(r"\((\d{4}-[a-z0-9-]+\.md)\)", text_of(DECISIONS / "README.md"))

    assert listed == records
    assert [name[:4] for name in records] == [
        f"{number:04}" for number in range(1, len(records) + 1)
    ]


@pytest.mark.parametrize(
    "path",
    [path for path in DOCUMENTS if path.parent == DECISIONS and path.name[0].isdigit()],
    ids=str,
)
def test_a_decision_says_its_context_itself_and_its_consequences(path: Path) -> None:
    headings = re.findall(r"^## (.*)$", text_of(path), flags=re.MULTILINE)

    assert headings == ["Context", "Decision", "Consequences"]
    assert re.search(r"^Date: \d{4}-\d{2}-\d{2}$", text_of(path), flags=re.MULTILINE)
