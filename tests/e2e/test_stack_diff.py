"""Defaults that changed in silence, read from the two real releases as they are installed."""

from pathlib import Path

import pytest

from service.cli.stack import asked, difference
from service.formats.chosen_stacks import chosen
from service.formats.matrix_files import read_matrix

pytestmark = [pytest.mark.sglang, pytest.mark.timeout(1800)]

MATRIX = Path(__file__).parents[2] / "matrix"


def test_the_two_cpu_stacks_differ_in_what_their_releases_changed() -> None:
    matrix = read_matrix(MATRIX)
    left, right = (chosen(matrix, f"cpu-sglang-{release}") for release in ("0.5.18", "0.5.23"))

    found = difference(left, right, build=True, ask=asked)

    assert (found.defaults.baseline_release, found.defaults.candidate_release) == (
        "0.5.18",
        "0.5.23",
    )
    changes = found.defaults.changes
    assert changes is not None
    changed = {each.flag: (each.baseline, each.candidate) for each in changes.changed}
    renamed = {each.baseline: each.candidate for each in changes.renamed}
    assert changed["swa-full-tokens-ratio"] == (0.8, None)
    assert changed["dcp-comm-backend"] == ("ag_rs", None)
    assert renamed["cuda-graph-max-bs"] == "cuda-graph-max-bs-decode"
    assert renamed["enable-dp-attention"] == "attn-dp-size <dp-size>"
    assert "attn-dp-size" in {each.flag for each in changes.added}
    assert "elastic-ep-rejoin" in {each.flag for each in changes.removed}
