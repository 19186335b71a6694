"""How a stack file says by which program its server starts, and what its log must then show."""

from typing import Annotated

from pydantic import Field

from service.domain.layer import Layer
from service.domain.stack import Component, SwapScope
from service.formats.messages import Message

LAUNCHER = "launcher"

Program = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")]
Line = Annotated[str, Field(min_length=4, max_length=400)]


class LaunchSection(Message):
    """The program that starts a stack's server, and texts that its log holds once it is up.

    program: looked for beside the measured Python, then on the runner's path; it takes the words
    that sglang.launch_server takes, which is what starts a server where it is left out.
    """

    program: Program | None = None
    expects: Annotated[tuple[Line, ...], Field(max_length=50)] = ()

    def components(self) -> tuple[Component, ...]:
        """Return the program as a component: another one is another stack."""
        if self.program is None:
            return ()
        return (Component(LAUNCHER, self.program, Layer.SERVER, SwapScope.PROCESS),)
