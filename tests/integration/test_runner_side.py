"""What the runner's side says instead of an answer, heard by the command that asked it."""

import pytest

from service.cli.runner_side import NoAnswerError, answer_of

# Every module that the command line asks, and words that some of them want.
ASKED = {
    "runners.bundles": (),
    "runners.capture": (),
    "runners.evidence": ("cpu",),
    "runners.flags": (),
    "runners.preflights": (),
    "runners.weights": (),
}


@pytest.mark.parametrize(("name", "words"), ASKED.items())
def test_a_question_that_cannot_be_taken_is_a_reason_in_words(
    name: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUNLINE_PATIENCE", "none")

    with pytest.raises(NoAnswerError) as refused:
        answer_of(name, *words, question=b"[", read=bytes, limit_s=60, without="nothing")

    first, *lines = str(refused.value).splitlines()
    assert first.startswith(("nothing: this", "nothing: these"))
    assert first.endswith("cannot be taken:")
    assert lines
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("print('the cards are taken'); raise SystemExit(1)", "the cards are taken"),
        ("raise SystemExit(1)", "timeit ended with 1; stderr says more"),
        ("print('half an ans', flush=True); import os; os.kill(os.getpid(), 9)", "signal 9"),
    ],
)
def test_whatever_ends_it_the_reason_is_told(program: str, why: str) -> None:
    words = ("-n1", "-r1", program)

    with pytest.raises(NoAnswerError, match=f"nothing: {why}") as silent:
        answer_of("timeit", *words, question=b"", read=bytes, limit_s=60, without="nothing")

    assert silent.value.exit_code == 1


def test_one_that_goes_on_too_long_is_ended() -> None:
    words = ("-n1", "-r1", "import time; time.sleep(600)")

    with pytest.raises(NoAnswerError, match="nothing: no answer within 1 s"):
        answer_of("timeit", *words, question=b"", read=bytes, limit_s=1, without="nothing")
