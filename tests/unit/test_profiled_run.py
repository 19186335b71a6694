"""A job whose launch is profiled: no value leaves it, so that nobody can judge it."""

from tests.runner_orders import job
from tests.unit.test_run_job import FakeSteps, done


def test_a_profiled_cell_passes_once_and_its_run_holds_texts_and_no_value() -> None:
    steps, ordered = FakeSteps(), job()
    launch = ordered.launch.model_copy(update={"profile": True})

    service = done(ordered.model_copy(update={"launch": launch}), steps)

    assert steps.events == ["up", "launch", "profile host", "run", "down", "launch"]
    (run,) = service.runs
    assert (run.state, run.values, run.seeds) == ("invalid", {}, ())
    assert [finding.code for finding in run.findings] == ["profiled"]
    assert {artefact.name: artefact.media_type for artefact in run.artefacts} == {
        "profile.json": "application/json",
        "profile-1-TP-0.trace.json.gz": "application/gzip",
    }
