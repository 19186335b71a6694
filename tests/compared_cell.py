"""A cell of two stacks that were compared, for tests of how it is told."""

from collections.abc import Sequence

from service.formats.comparisons import CellComparison
from service.formats.verdicts import ComparisonRead, DifferenceRead


def compared_cell(
    comparison: ComparisonRead, *, title: str, resolution: Sequence[DifferenceRead] = ()
) -> CellComparison:
    """Return a cell with what was said of it. resolution: what the servers settled otherwise."""
    return CellComparison(
        condition_key="a" * 64,
        protocol_key="b" * 64,
        title=title,
        candidate_stack_key="c" * 64,
        candidate_stack_name="newer",
        baseline_stack_key="d" * 64,
        baseline_stack_name="older",
        host="host-1",
        against="control",
        baseline_launches=2,
        candidate_launches=2,
        resolution=tuple(resolution),
        comparison=comparison,
    )
