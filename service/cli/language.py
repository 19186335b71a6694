"""The option that says which language people read, for every command that has it."""

from typing import Annotated

import typer

from service.cli.answers.words import Language

Lang = Annotated[
    Language, typer.Option(envvar="KUNLINE_LANG", help="The language that people read.")
]
