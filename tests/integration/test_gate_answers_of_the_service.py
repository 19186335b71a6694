"""What the service answers of real gates is shown as what was built by hand is."""

from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest
from sqlalchemy import Engine

from service.cli.answers.headline import headline
from service.cli.answers.junit import junit
from service.cli.answers.markdown import markdown
from service.cli.answers.pen import MARKDOWN
from service.cli.answers.words import Language
from service.domain.layer import Layer
from service.formats.ci_gates import GateRules
from service.formats.gate_answers import GateAnswer
from service.formats.reports import Broken
from tests.integration import builders, gating, path
from tests.integration.builders import NEW


def equal(engine: Engine) -> None:
    """Measure a candidate that is as fast as its base."""
    gating.measure(engine)


def slower(engine: Engine) -> None:
    """Measure a candidate that is slower by 30 %."""
    gating.measure(engine, lambda stack, *_: 1.3 if stack == NEW.name else 1.0)


def noisy(engine: Engine) -> None:
    """Measure launches that scatter far more than the tolerance."""
    gating.measure(engine, lambda _stack, _condition, turn: (1.4, 0.7, 1.0, 1.3, 0.8)[turn % 5])


def broken(engine: Engine) -> None:
    """Let the candidate break in its first launch."""
    job = path.claimed(engine)
    finding = Broken(layer=Layer.COLLECTIVES, finding="no XCCL", remedy="install it")
    path.tell_launch(engine, builders.launch_report(job, broken=finding))
    path.finish(engine, job)


def answer_of(engine: Engine, measure: Callable[[Engine], None], **rules: object) -> GateAnswer:
    """Return what the service answers of a gate that is measured like that."""
    order = gating.gate_order(rules=GateRules(looks=(2, 4), **rules))
    gate_id = gating.ask(engine, order)
    measure(engine)
    return gating.read(engine, gate_id).answer


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        pytest.param(equal, "No gating cell is worse", id="equal"),
        pytest.param(slower, "The candidate is worse in 2 of 2 gating cells", id="slower"),
        pytest.param(noisy, "2 of 2 gating cells are inconclusive", id="noisy"),
        pytest.param(broken, "breaks at the layer `collectives` in 2 of 2", id="broken"),
    ],
)
def test_an_answer_of_the_service_is_said_in_a_sentence(
    engine: Engine, measure: Callable[[Engine], None], said: str
) -> None:
    answer = answer_of(engine, measure)
    root = ET.fromstring(junit(answer, Language.EN))  # noqa: S314 — written just above
    bad = int(root.attrib["failures"]) + int(root.attrib["errors"])

    assert said in headline(answer, Language.EN, MARKDOWN)
    assert said in markdown(answer, Language.EN)
    assert bool(bad) == bool(answer.exit_code)


def test_what_the_plan_lets_pass_is_skipped_and_said(engine: Engine) -> None:
    answer = answer_of(engine, noisy, inconclusive_blocks=False)
    root = ET.fromstring(junit(answer, Language.EN))  # noqa: S314 — written just above

    assert (root.attrib["failures"], root.attrib["errors"]) == ("0", "0")
    assert "It does not block" in markdown(answer, Language.EN)
