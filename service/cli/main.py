"""The `kunline` command: every command in the order people meet them, loaded when asked for."""

import errno
from collections import UserDict
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from service.cli.exit_codes import OPERATIONAL, USAGE
from service.cli.plain import complain

_NOWHERE_TO_WRITE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})


@dataclass(frozen=True, slots=True)
class Entry:
    """One command: its module here and its name in there, and what the list of commands says of it.

    place: the two, with a colon between them. passes_on: every word behind the command goes to the
    process that it becomes.
    """

    place: str
    line: str
    passes_on: bool = False


COMMANDS = {
    "demo": Entry(
        "demo:demo",
        "Measure two pinned SGLang stacks on this machine's CPU, and judge the newer.",
    ),
    "up": Entry(
        "up:up", "Run service, worker, scheduler and broker here, on SQLite, until Ctrl-C."
    ),
    "matrix": Entry("matrix:matrix", "The files that say what is measured."),
    "plan": Entry(
        "plan:plan", "Show what a plan would measure: cells, launches in order, card time."
    ),
    "run": Entry(
        "run:run",
        "Measure a plan on the given stacks and judge it; the exit code is the verdict.",
    ),
    "session": Entry("session:sessions", "Sessions: list, show, cancel."),
    "runs": Entry(
        "runs:runs",
        "List runs, the newest first; or show one, withdraw it, restore it, tell its history.",
    ),
    "compare": Entry(
        "compare:compare",
        "Judge a candidate's results against a baseline's, by the same rule as everywhere else.",
    ),
    "baseline": Entry(
        "baseline:baselines", "Baselines: pin, show, history, undo, rule, rules, end-rule."
    ),
    "gate": Entry(
        "gate:gates",
        "Build a candidate, measure it in turn with its baseline on one host, and judge it.",
    ),
    "waiver": Entry("waiver:waivers", "Waivers of a gate: add, list, revoke."),
    "noise": Entry(
        "noise:noise",
        "Measure one stack against itself, restarts included, and store how much launches differ.",
    ),
    "experiment": Entry(
        "experiment:experiment",
        "Try several values of one parameter in turn on one host, and say which to take.",
    ),
    "attribute": Entry(
        "attribute:attribute",
        "Find which component, argument or variable makes the bad stack slower than the good one.",
    ),
    "events": Entry(
        "events:events",
        "List what the screen suspects in the stored history, newest first; or show one event.",
    ),
    "confirm": Entry(
        "confirm:confirms", "Confirms of suspicions: list, show, start, cancel, budget."
    ),
    "incident": Entry(
        "incident:incidents",
        "Incidents: list, show, open, triage, merge, split, reopen, attribute, profile, record.",
    ),
    "schedule": Entry("schedule:schedules", "Nights: set, list, pause, resume, remove."),
    "notify": Entry(
        "notify:webhooks", "Notifications by webhook: add, list, test, remove, deliveries."
    ),
    "compat": Entry("compat:compats", "Which stacks work, and may one move to another?"),
    "qualify": Entry(
        "qualify:qualify",
        "Qualify an upgrade: measure both stacks, read the dossier, decide, sign.",
    ),
    "stack": Entry("stack:stacks", "Stacks: what sets two of them apart."),
    "host": Entry("host:hosts", "Hosts and their runners: list, pause, drain."),
    "preflight": Entry(
        "preflight:preflight",
        "Check this host layer by layer, from the metal up; the first that breaks ends the row.",
    ),
    "doctor": Entry(
        "doctor:doctor",
        "Print what is amiss on this machine; --bundle packs what a maintainer needs.",
    ),
    "scaling": Entry(
        "scaling:scalings", "Several cards against one, and what their messages cost."
    ),
    "bundle": Entry("bundle:bundles", "Everything a site without a network needs."),
    "weights": Entry("weights:weights", "A model's files on a host's own disk."),
    "import": Entry(
        "import_:import_results",
        "Store results that were measured elsewhere, under a condition that you state as a whole.",
    ),
    "read": Entry(
        "read:read",
        "Parse benchmark result files: values in base units, and whether they may be judged.",
    ),
    "detect": Entry(
        "detect:detect",
        "Look for changes of level in plain series: when, which way, how much, when seen.",
    ),
    "serve": Entry(
        "serve:serve", "Run the HTTP API on the database that KUNLINE_DATABASE_URL names."
    ),
    "worker": Entry(
        "serve:worker",
        "Run the service's own tasks: the sweep that finds lost jobs, and what follows a report.",
    ),
    "scheduler": Entry(
        "serve:scheduler", "Send the service's periodic tasks on time; run exactly one."
    ),
    "runner": Entry(
        "serve:runner",
        "Run a runner on this host: it takes jobs, brings stacks up and measures them.",
    ),
    "db": Entry(
        "serve:database",
        "Operator's work on the database: `kunline db migrate`, `kunline db retell`.",
        passes_on=True,
    ),
    "token": Entry(
        "serve:token",
        "Make, list and revoke API tokens, on the host of the database.",
        passes_on=True,
    ),
}


@cache
def loaded(name: str) -> Any:
    """Return a command, or a group of commands. Raises KeyError for a name that is not there."""
    entry = COMMANDS[name]
    module, _, its_name = entry.place.partition(":")
    found = getattr(import_module(f"service.cli.{module}"), its_name)
    holder = typer.Typer(add_completion=False, rich_markup_mode=None)
    if isinstance(found, typer.Typer):
        holder.add_typer(found, name=name)
    else:
        # What follows the first word is not looked at, --help included.
        every = {
            "allow_extra_args": True,
            "allow_interspersed_args": False,
            "ignore_unknown_options": True,
        }
        holder.command(name, context_settings=every if entry.passes_on else None)(found)
    return typer.main.get_group(holder).commands[name]


class _Loaded(UserDict[str, Any]):
    """Commands by name: one is imported when it is looked up, and none to list them."""

    def __getitem__(self, name: str) -> Any:
        return loaded(name)


class _Commands(TyperGroup):
    """Commands of which none ends in a traceback because of a full disk or a name in bytes."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Loaded(COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 — typer's
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.line) for name, entry in COMMANDS.items()])

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Exits with a sentence: 1 where a disk is full, 2 for a name in bytes."""
        words = list(ctx.args)
        try:
            return super().invoke(ctx)
        except ValueError as error:
            # Whoever only reads a file takes such a name; JSON and databases do not.
            odd = [word for word in words if not _is_text(word)]
            if not odd:
                raise
            complain(f"not UTF-8, so it can be neither sent nor stored: {', '.join(odd)}")
            raise typer.Exit(USAGE) from error
        except OSError as error:
            if error.errno not in _NOWHERE_TO_WRITE:
                raise
            where = f" {error.filename}" if error.filename else ""
            complain(f"cannot write{where}: {error.strerror}; what is written so far is not whole")
            raise typer.Exit(OPERATIONAL) from error


def _is_text(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


main = typer.Typer(
    name="kunline",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("kunline"))
        raise typer.Exit


@main.callback()
def kunline(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print and exit."),
    ] = False,
) -> None:
    """Measure, store, judge and compare the speed of SGLang stacks on Kunlun cards."""
