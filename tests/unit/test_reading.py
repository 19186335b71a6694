"""A reading knows what its own facts allow, and readings of files add up."""

from service.domain.reading import Reading, Readings, Unreadable
from service.domain.validity import RunFacts, Severity, Validity


def reading(facts: RunFacts) -> Reading:
    return Reading("a.jsonl", 1, "tool", None, 1, {}, {}, facts)


def test_a_reading_without_facts_is_incomplete() -> None:
    assert reading(RunFacts()).validity is Validity.INCOMPLETE


def test_a_reading_that_contradicts_itself_is_invalid_whatever_is_unknown() -> None:
    contradicted = reading(RunFacts(ttft_p50=0.0))

    assert contradicted.validity is Validity.INVALID
    assert Severity.UNKNOWN in {finding.severity for finding in contradicted.findings}


def test_what_files_gave_adds_up_in_order() -> None:
    one, two = reading(RunFacts()), reading(RunFacts(ttft_p50=0.0))
    bad = Unreadable("b.jsonl", None, "empty", "the file holds nothing")

    assert Readings((one,)) + Readings((two,), (bad,)) == Readings((one, two), (bad,))
