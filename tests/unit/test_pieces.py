"""Pieces are kept under all that they rest on, and as many of them as weigh so much."""

from collections.abc import Sequence
from dataclasses import dataclass

from service.formats.scaling import ScalingRead
from service.usecases.pieces import Pieces, joined


@dataclass(frozen=True, slots=True)
class Word:
    """A word that weighs as much as it is long."""

    text: str

    @property
    def weight(self) -> int:
        return len(self.text)


def ask(pieces: Pieces[Word], *names: str) -> tuple[list[str], Sequence[str]]:
    """Return what is told of some names, and which of them had to be told now."""
    told: list[str] = []

    def tell(missing: Sequence[int]) -> Sequence[Word]:
        told.extend(names[place] for place in missing)
        return [Word(f"<{names[place]}>") for place in missing]

    return [word.text for word in pieces.told(names, tell)], told


def test_only_what_is_not_kept_is_told_and_all_comes_in_order() -> None:
    pieces = Pieces[Word]()
    ask(pieces, "a", "b")

    assert ask(pieces, "b", "c", "a") == (["<b>", "<c>", "<a>"], ["c"])
    assert ask(pieces, "b", "c", "a")[1] == []


def test_what_was_told_longest_ago_is_let_go_of() -> None:
    pieces = Pieces[Word](bytes_max=6)
    ask(pieces, "a", "b", "c")

    assert ask(pieces, "b", "c")[1] == []
    assert ask(pieces, "a")[1] == ["a"]


def test_pieces_stand_in_an_answer_as_they_are() -> None:
    answer = ScalingRead(metric="ttft_p50", rows=())

    assert joined(answer, "rows", [b'{"a":1.50}']) == b'{"metric":"ttft_p50","rows":[{"a":1.50}]}'
