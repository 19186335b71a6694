"""How a command reaches the service: its address, a token, and what is said when it is away."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from service.cli.answers.words import Language
from service.cli.exit_codes import OPERATIONAL, USAGE
from service.cli.plain import complain
from service.client import Client, RefusedError, ServiceAwayError, connected
from service.formats.reasons import refusal_in_chinese

AWAY = {
    Language.EN: "Is it running? `kunline up` starts one here; --url names another.",
    Language.ZH: "服务是否在运行？`kunline up` 可在本机启动一个；--url 可指定另一个。",
}
DEFAULT_URL = "http://127.0.0.1:8000"

Url = Annotated[str, typer.Option("--url", envvar="KUNLINE_URL", help="Where the service is.")]
Token = Annotated[
    str | None,
    typer.Option("--token", envvar="KUNLINE_TOKEN", help="An API token, where the service asks."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print exactly one JSON document.")]


@contextmanager
def service(url: str, token: str | None, language: Language = Language.EN) -> Iterator[Client]:
    """Open the service, or end the command with a sentence and its exit code.

    Exits 1 when the service is away, and 2 when it refuses what was asked.
    """
    try:
        with connected(url, token=token) as client:
            yield client
    except ServiceAwayError as error:
        complain(f"{refused(str(error), language)}\n{AWAY[language]}")
        raise typer.Exit(OPERATIONAL) from error
    except RefusedError as error:
        complain(refused(str(error), language))
        raise typer.Exit(USAGE) from error


def refused(why: str, language: Language) -> str:
    """Return why something was refused in a language, as far as its words are known."""
    return refusal_in_chinese(why) if language is Language.ZH else why
