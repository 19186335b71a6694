"""Results measured elsewhere are stored once, whole, and for what they are."""

from collections import Counter
from functools import partial
from uuid import UUID

import pytest
from sqlalchemy import Engine, func, select

from service.domain.policy import Policy
from service.domain.verdict import Outcome
from service.formats.comparisons import CellsCompared
from service.formats.imports import ImportedResult
from service.formats.withdrawals import RestorationOrder
from service.store import artefacts, runs
from service.store.database import reading, writing
from service.store.runs import RunFilter
from service.store.tables import AuditRow, ImportedRunRow, RunRow, SampleRow, Table
from service.usecases.compare_stored import compare_stored
from service.usecases.import_runs import read_import
from service.usecases.read_runs import list_runs, read_run
from service.usecases.submit_session import KeyReusedError
from service.usecases.withdraw_run import restore_run
from tests.integration import builders, path
from tests.integration.builders import NEW, NOW, OLD
from tests.integration.imported import (
    bring,
    import_order,
    invalid,
    result,
    run_id_of,
    states,
    text_of,
    withdraw,
)
from tests.integration.path import FILES
from tests.integration.test_concurrency import at_once


def number_of(engine: Engine, table: type[Table]) -> int | None:
    with reading(engine) as session:
        return session.scalar(select(func.count()).select_from(table))


def compared(engine: Engine, baseline: UUID | str, candidate: UUID | str) -> CellsCompared:
    with reading(engine) as session:
        return compare_stored(
            session,
            baseline=str(baseline),
            candidate=str(candidate),
            policy=Policy(min_repeats=1),
        )


def test_a_result_is_stored_whole_and_said_to_be_imported(engine: Engine) -> None:
    read = bring(engine, import_order())

    with reading(engine) as session:
        detail = read_run(session, run_id_of(read))
        text = artefacts.read(session, FILES, detail.artefacts[0].digest)
    assert states(read) == ["stored"]
    assert detail.run.imported
    assert detail.run.host == "h1"
    assert (detail.run.session_id, detail.run.job_id) == (None, None)
    assert detail.run.repeats == 1
    assert detail.values == {"ttft_p50": (0.02,), "output_throughput": (600.0,)}
    assert detail.resolution == {"version": "0.5.23"}
    assert detail.imported is not None
    assert (detail.imported.file, detail.imported.line) == ("out.jsonl", 1)
    assert text.size_bytes == len(text_of(1))


def test_a_host_that_nobody_says_is_unknown(engine: Engine) -> None:
    read = bring(engine, import_order(host=None))

    assert read.host == "unknown"


@pytest.mark.parametrize(
    "again",
    [
        pytest.param(result(1), id="the same file"),
        pytest.param(result(1, file="renamed.jsonl"), id="a renamed copy"),
        pytest.param(result(1, launch=2), id="a line of a concatenation"),
    ],
)
def test_a_result_that_is_stored_stays_as_it_is(engine: Engine, again: ImportedResult) -> None:
    first = bring(engine, import_order())
    second = bring(engine, import_order([again]))

    assert states(second) == ["duplicate"]
    assert run_id_of(second) == run_id_of(first)
    assert number_of(engine, RunRow) == 1


def test_a_file_that_grew_brings_its_new_lines_alone(engine: Engine) -> None:
    bring(engine, import_order([result(1), result(2)]))
    grown = bring(engine, import_order([result(1), result(2), result(3)]))

    with reading(engine) as session:
        page = list_runs(session, RunFilter(), limit=9, cursor=None)
    assert states(grown) == ["duplicate", "duplicate", "stored"]
    assert len({run.launch_id for run in page.runs}) == 1


def test_a_result_that_stands_twice_in_one_import_is_stored_once(engine: Engine) -> None:
    read = bring(engine, import_order([result(1), result(1), result(1, position=1)]))

    assert states(read) == ["stored", "duplicate", "stored"]


def test_an_invalid_result_is_stored_with_its_gate_and_never_judged(engine: Engine) -> None:
    read = bring(engine, import_order([invalid(1), result(2)]))

    answer = compared(engine, run_id_of(read, 1), run_id_of(read, 0))
    assert states(read) == ["invalid", "stored"]
    assert answer.outcome is Outcome.INVALID
    assert "ttft_zero" in answer.cells[0].comparison.verdicts[0].reason


def test_what_contradicts_the_statement_is_refused_by_field_and_costs_the_others_nothing(
    engine: Engine,
) -> None:
    read = bring(engine, import_order([result(1, told={"concurrency": 8}), result(2)]))

    (difference,) = read.results[0].differences
    assert states(read) == ["refused", "stored"]
    assert (difference.field, difference.baseline, difference.candidate) == (
        "traffic.concurrency",
        "4",
        "8",
    )


def test_values_of_two_definitions_are_never_put_into_one_cell(engine: Engine) -> None:
    both = bring(engine, import_order([result(1), result(2, definition=2)]))
    later = bring(engine, import_order([result(3, definition=2)]))

    assert states(both) == ["stored", "refused"]
    assert states(later) == ["refused"]
    assert later.results[0].differences[0].field == "definition"


def _old(line: int, *, definition: int = 1) -> ImportedResult:
    found = result(line, launch=line, definition=definition)
    return found.model_copy(update={"resolution": {}})


def test_a_correction_to_another_definition_is_not_judged_beside_what_it_leaves(
    engine: Engine,
) -> None:
    bring(engine, import_order([_old(1), _old(2)], stack=OLD))
    bring(engine, import_order([result(3)], stack=NEW))
    corrected = import_order([_old(1, definition=2)], stack=OLD, correct="read by a newer reader")

    assert compared(engine, OLD.key, NEW.key).outcome is not Outcome.NOT_COMPARABLE
    assert states(bring(engine, corrected)) == ["stored"]
    answer = compared(engine, OLD.key, NEW.key)

    (cell,) = answer.cells
    assert answer.outcome is Outcome.NOT_COMPARABLE
    assert {each.outcome for each in cell.comparison.verdicts} == {Outcome.NOT_COMPARABLE}
    assert "definitions 1 and 2" in str(cell.comparison.verdicts[0].reason)


def test_a_withdrawn_definition_keeps_no_other_out_and_does_not_come_back_beside_it(
    engine: Engine,
) -> None:
    wrong = bring(engine, import_order([_old(1)], stack=OLD))
    withdraw(engine, run_id_of(wrong))
    right = bring(engine, import_order([result(2, definition=2)], stack=NEW))

    assert states(right) == ["stored"]
    with writing(engine) as session:
        order = RestorationOrder(reason="it was right")
        restore_run(session, run_id_of(wrong), order, who="ann", now=NOW)
    assert compared(engine, OLD.key, NEW.key).outcome is Outcome.NOT_COMPARABLE


def test_a_dry_run_says_the_same_and_stores_nothing(engine: Engine) -> None:
    bring(engine, import_order([result(1)]))
    before = number_of(engine, RunRow)
    results = [result(1), result(2), invalid(3), result(4, told={"tp": 2})]

    planned = bring(engine, import_order(results, dry_run=True))
    done = bring(engine, import_order(results))

    assert states(planned) == ["duplicate", "stored", "invalid", "refused"]
    assert planned.id is None
    assert before == 1
    assert states(done) == states(planned)


def test_a_lost_answer_is_given_again_under_its_key(engine: Engine) -> None:
    first = bring(engine, import_order(), key="one")
    again = bring(engine, import_order(), key="one")

    assert first.id is not None
    with reading(engine) as session:
        assert read_import(session, first.id) == first
    assert again == first
    with pytest.raises(KeyReusedError):
        bring(engine, import_order([result(2)]), key="one")


def test_what_fails_within_an_import_leaves_nothing_behind(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(artefacts, "hold_all", fail)
        with pytest.raises(KeyboardInterrupt):
            bring(engine, import_order([result(1), result(2)]), key="one")
    left = [number_of(engine, table) for table in (RunRow, SampleRow, ImportedRunRow)]
    again = bring(engine, import_order([result(1), result(2)]), key="one")

    assert left == [0, 0, 0]
    assert states(again) == ["stored", "stored"]


def test_one_batch_from_eight_threads_is_stored_once(engine: Engine) -> None:
    order = import_order([result(line) for line in range(1, 41)])

    answers = at_once([partial(bring, engine, order)] * 8)

    seen = Counter(state for answer in answers for state in states(answer))
    assert seen == {"stored": 40, "duplicate": 7 * 40}
    assert number_of(engine, RunRow) == 40
    assert number_of(engine, SampleRow) == 80


def test_one_batch_with_one_key_from_eight_threads_has_one_answer(engine: Engine) -> None:
    order = import_order([result(1), result(2)])

    answers = at_once([partial(bring, engine, order, key="one")] * 8)

    assert {answer.id for answer in answers} == {answers[0].id}
    assert number_of(engine, RunRow) == 2


def test_a_result_stored_under_another_stack_is_refused_until_it_is_corrected(
    engine: Engine,
) -> None:
    wrong = bring(engine, import_order([result(1, told={})], stack=NEW))
    right = result(1, told={}).model_copy(update={"resolution": {}})
    refused = bring(engine, import_order([right], stack=OLD))
    corrected = bring(engine, import_order([right], stack=OLD, correct="it was the old one"))
    again = bring(engine, import_order([right], stack=OLD, correct="it was the old one"))

    with reading(engine) as session:
        old = runs.read(session, run_id_of(wrong))
    assert states(refused) == ["refused"]
    assert [each.field for each in refused.results[0].differences] == ["stored.stack"]
    assert run_id_of(refused) == run_id_of(wrong)
    assert states(corrected) == ["stored"]
    assert corrected.results[0].replaced == run_id_of(wrong)
    assert old.withdrawal is not None
    assert old.withdrawal.replaced_by == run_id_of(corrected)
    assert states(again) == ["duplicate"]
    assert number_of(engine, AuditRow) == 1


def test_a_withdrawn_result_does_not_come_back_with_the_next_import(engine: Engine) -> None:
    first = bring(engine, import_order())
    withdraw(engine, run_id_of(first))
    again = bring(engine, import_order())

    assert states(again) == ["duplicate"]
    assert again.results[0].withdrawn
    assert "wrong driver" in again.results[0].reason


def test_imported_stacks_are_compared_and_said_to_be_no_more_than_that(engine: Engine) -> None:
    old = [result(line, launch=line).model_copy(update={"resolution": {}}) for line in (1, 2, 3)]
    new = [result(line, launch=line, scale=1.5) for line in (4, 5, 6)]
    bring(engine, import_order(old, stack=OLD, host=None))
    bring(engine, import_order(new, stack=NEW, host=None))

    answer = compared(engine, OLD.key, NEW.key)

    (cell,) = answer.cells
    warnings = cell.comparison.warnings
    assert (cell.baseline_launches, cell.candidate_launches) == (3, 3)
    assert answer.outcome is Outcome.REGRESSED
    assert any("not interleaved" in warning for warning in warnings)
    assert any("not known to be of one host" in warning for warning in warnings)
    assert "baseline: 3 of 3 runs imported" in warnings


def test_an_imported_run_is_no_control_of_a_session_on_its_host(engine: Engine) -> None:
    session_id = path.do_session(engine, builders.session_order())
    read = bring(engine, import_order())

    with reading(engine) as session:
        imported = runs.read(session, run_id_of(read))
        measured = runs.of_session(session, session_id, limit=100)
    assert imported.host == measured[0].host
    assert imported.is_imported
    assert not any(run.is_imported for run in measured)
