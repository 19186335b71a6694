"""What a person wants to become of an answer, and what a delivery needs of its process."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from service.cli.answers.place import Place
from service.cli.answers.words import Language


@dataclass(frozen=True, slots=True)
class Wanted:
    """What becomes of an answer; nothing of it where a field is None or False.

    check: whether a forge gets a check beside the comment. key: by which both are found again; the
    plan's name where it is None.
    """

    language: Language = Language.EN
    markdown: Path | None = None
    junit: Path | None = None
    answer: Path | None = None
    github: bool = False
    gitee: bool = False
    check: bool = True
    github_actions: bool = False
    webhook: str | None = None
    place: Place = field(default_factory=Place)
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a delivery needs of the process it runs in. say: prints a line of an answer."""

    environ: Mapping[str, str]
    now: Callable[[], float]
    sleep: Callable[[float], None]
    say: Callable[[str], None]
