"""What a bench of real gates says: shares of their words beside the chances of them."""

from service.stats.gate_power import Chances
from tests.bench.gate_shares import Range, of_gates, said
from tests.gate_answers import all_well, inconclusive


def chances(*, unchanged: float, regressed: float = 0.0) -> Chances:
    return Chances(regressed=regressed, improved=0.0, unchanged=unchanged, launches=2.0)


def test_a_gate_passes_no_oftener_than_its_weakest_metric() -> None:
    found = of_gates([chances(unchanged=0.9), chances(unchanged=0.5, regressed=0.01)])

    assert (found[0].least, found[0].most) == (0.45, 0.5)
    assert (found[3].least, round(found[3].most, 9)) == (0.01, 0.01)
    assert round(found[4].least, 9) == 0.49
    assert round(found[4].most, 9) == 0.54


def test_counts_that_are_told_hold_nearly_all_rows_of_gates() -> None:
    assert Range(0.5, 0.5).counts(12) == (3, 9)
    assert Range(0.0, 1.0).counts(12) == (0, 12)


def test_shares_of_gates_stand_beside_what_is_predicted() -> None:
    answers = [all_well(), all_well(), inconclusive()]

    lines = list(said(answers, {}))

    assert lines[1].split()[:3] == ["0", "2", "67%"]
    assert lines[3].split()[:3] == ["4", "1", "33%"]
    assert any(line.startswith("output_throughput") for line in lines)
