"""What a matrix file asks of the server: arguments and environment."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from service.domain.plan import PARALLELISM_FLAGS, Ask
from service.domain.server_arguments import LOCAL, Argument, normalised, settled_name
from service.domain.server_environment import environment_problems
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


def _readable(environment: dict[str, str]) -> dict[str, str]:
    """Return variables, each of which its reader understands; a wrong one is told at its line."""
    if problems := environment_problems(environment):
        raise problems_at(problems, environment)
    return environment


def problems_at(
    problems: Mapping[str, str], given: Mapping[str, str], *place: str
) -> ValidationError:
    """Return what is wrong with the values of a map, each at its own name below a place."""
    return ValidationError.from_exception_data(
        "environment",
        [
            InitErrorDetails(
                type=PydanticCustomError("value_error", "{error}", {"error": problem}),
                loc=(*place, name),
                input=given.get(name),
            )
            for name, problem in problems.items()
        ],
    )


ServerArguments = Annotated[dict[str, Argument], AfterValidator(_askable)]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Environment = Annotated[dict[VariableName, str], AfterValidator(_readable)]


class ServerSection(Message):
    """Arguments: flag to value, true for a flag without one. Environment: name to text."""

    arguments: ServerArguments = Field(default_factory=dict)
    environment: Environment = Field(default_factory=dict)

    def ask(self, by: str) -> Ask:
        """Return what is asked for, with the file that asks."""
        return Ask(by, self.arguments, self.environment)
