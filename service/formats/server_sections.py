"""What a matrix file asks of the server: arguments and environment."""

from typing import Annotated

from pydantic import AfterValidator, Field

from service.domain.plan import PARALLELISM_FLAGS, Ask
from service.domain.server_arguments import LOCAL, Argument, normalised, settled_name
from service.formats.messages import Message


def _askable(arguments: dict[str, Argument]) -> dict[str, Argument]:
    for flag in arguments:
        name = settled_name(flag)
        if name in LOCAL:
            raise ValueError(f"--{name} is local to a host: the runner chooses it")
        if name in PARALLELISM_FLAGS:
            raise ValueError(
                f"--{name} is parallelism: say {PARALLELISM_FLAGS[name]} in the plan's layouts"
            )
    normalised(arguments)
    return arguments


ServerArguments = Annotated[dict[str, Argument], AfterValidator(_askable)]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class ServerSection(Message):
    """Arguments: flag to value, true for a flag without one. Environment: name to text."""

    arguments: ServerArguments = Field(default_factory=dict)
    environment: dict[VariableName, str] = Field(default_factory=dict)

    def ask(self, by: str) -> Ask:
        """Return what is asked for, with the file that asks."""
        return Ask(by, self.arguments, self.environment)
