"""`kunline` with a recorded answer: what measures is left out, and all else is the real command.

`kunline gate …` is parsed by the real command, and then its answer is that of KUNLINE_RECORDED,
delivered as the command's own options say. Anything else is the real `kunline`.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import typer

from service.cli.gate import gates
from service.cli.main import main
from tests.tracked_files import ROOT

# What typer's own copy of click raises for wrong options; it is not exported by this name.
UsageError = cast(
    "type[Exception]",
    next(each for each in typer.BadParameter.__mro__ if each.__name__ == "UsageError"),
)


def stub(folder: Path, recorded: Path, name: str = "kunline") -> Path:
    """Write the program into a folder and return it."""
    program = folder / name
    program.write_text(
        "#!/bin/sh\n"
        f"export PYTHONPATH={ROOT} KUNLINE_RECORDED={recorded}\n"
        f'exec {sys.executable} -m tests.integration.recorded_gate "$@"\n'
    )
    program.chmod(0o755)
    return program


def delivering(words: Sequence[str]) -> Iterator[str]:
    """Yield those words of a gate that `kunline gate report` takes as well, as they are."""
    report = typer.main.get_command(gates).commands["report"]  # type: ignore[attr-defined]
    flags = {
        option: param.is_flag
        for param in report.params
        for option in (*param.opts, *param.secondary_opts)
        if option.startswith("--")
    }
    rest = iter(words)
    for word in rest:
        name = word.partition("=")[0]
        if name in flags:
            yield word
            if not flags[name] and "=" not in word:
                yield next(rest)


def _require_known(words: Sequence[str]) -> None:
    """Exit 2 with a sentence where the real command would."""
    try:
        typer.main.get_command(gates).make_context("gate", list(words))
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)


def run() -> None:
    """Run the command line that this process was given."""
    kind, *words = sys.argv[1:]
    if kind == "gate" and words[:1] != ["report"]:
        _require_known(words)
        recorded = os.environ["KUNLINE_RECORDED"]
        sys.argv[1:] = ["gate", "report", recorded, *delivering(words)]
    main()


if __name__ == "__main__":
    run()
