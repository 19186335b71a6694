"""How foreign text is put down: in Markdown, or in plain lines."""

from collections.abc import Callable
from dataclasses import dataclass

from service.cli.answers import marks


@dataclass(frozen=True, slots=True)
class Pen:
    """What becomes of a name, a sentence and an address that others wrote.

    code: of a name. words: of a sentence. link: of a label of ours and an address.
    """

    code: Callable[[str], str]
    words: Callable[[str], str]
    link: Callable[[str, str], str]


MARKDOWN = Pen(code=marks.code, words=marks.words, link=marks.link)
PLAIN = Pen(
    code=marks.clipped,
    words=marks.clipped,
    link=lambda label, url: f"{label}: {marks.clipped(url)}",
)
