"""The one table that turns what went wrong into an HTTP status."""

from functools import partial

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from sqlalchemy.exc import (
    DataError,
    InterfaceError,
    OperationalError,
    SQLAlchemyError,
    StatementError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException

from service.domain.incident import IncidentStateError
from service.domain.job import StaleTokenError, TransitionError
from service.domain.metric import UnknownMetricError
from service.domain.policy import PolicyError
from service.domain.qualification import WrongStepError
from service.domain.release import ReleasesApartError, ReleaseTextError
from service.domain.stack import UnknownComponentError
from service.domain.waiver import WaiverTimeError
from service.formats.problems import MEDIA_TYPE, FieldProblem, Problem
from service.store.artefacts import ArtefactFileMissingError, UnknownArtefactError
from service.store.attributions import UnknownAttributionError
from service.store.baseline_moves import UnknownMoveError
from service.store.baseline_rules import UnknownRuleError
from service.store.card_leases import CardsLeasedError
from service.store.ci_gates import UnknownGateError
from service.store.conditions import UnknownConditionError
from service.store.confirms import UnknownConfirmError
from service.store.database import words_of
from service.store.events import UnknownEventError
from service.store.incidents import UnknownIncidentError
from service.store.jobs import UnknownJobError
from service.store.launches import UnknownLaunchError
from service.store.protocols import UnknownProtocolError
from service.store.qualifications import UnknownQualificationError
from service.store.runners import UnknownRunnerError
from service.store.runs import UnknownRunError
from service.store.schedules import UnknownScheduleError
from service.store.sessions import UnknownSessionError
from service.store.stacks import UnknownStackError
from service.store.tokens import UnknownTokenError
from service.store.waivers import UnknownWaiverError
from service.store.webhooks import UnknownWebhookError
from service.usecases.admit import ScopeMissingError, TokenMissingError, TokenRefusedError
from service.usecases.claim_job import ClocksApartError
from service.usecases.compare_stored import NothingMeasuredError, UnlikeKindsError
from service.usecases.declare_constraints import UnknownConstraintError
from service.usecases.deliver import AbsentVariableError
from service.usecases.hand_out_token import FirstTokenError, TokenOverError
from service.usecases.import_runs import UnknownImportError
from service.usecases.issue_token import TokenNameTakenError
from service.usecases.keep_artefact import (
    ArtefactsTooLargeError,
    ArtefactTooLargeError,
    ArtefactUnreadableError,
    DigestMismatchError,
)
from service.usecases.keep_attribution import AttributionStateError
from service.usecases.keep_rule import RuleTakenError
from service.usecases.keep_schedule import TooManySchedulesError
from service.usecases.keep_webhook import WebhookRemovedError, WebhookTakenError
from service.usecases.move_baseline import FrozenBaselineError
from service.usecases.order_profile import NothingToProfileError
from service.usecases.pin_baseline import NothingToPinError
from service.usecases.qualify import (
    NoControlError,
    OneHostError,
    RebootError,
    SameStackError,
    UntickedError,
    WrongHostError,
)
from service.usecases.read_curves import NotALatencyError
from service.usecases.read_dossier import NotMeasuredError
from service.usecases.read_matrix import NotJudgedError
from service.usecases.read_runs import CursorError
from service.usecases.renew_lease import LeaseLostError
from service.usecases.report_run import CellNotInJobError
from service.usecases.submit_session import KeyReusedError, RepeatedCellError
from service.usecases.triage_incident import EventNotComparableError
from service.usecases.undo_move import MovedOnError
from service.usecases.withdraw_run import (
    AlreadyWithdrawnError,
    NotWithdrawnError,
    ReplacedRunError,
    ReplacementError,
)

LOG = structlog.get_logger(__name__)
RETRY_AFTER_S = "2"


class PathMismatchError(ValueError):
    """The address names one thing, the body another."""

    def __init__(self, *, path: object, body: object) -> None:
        super().__init__(f"the address names {path}, the body {body}")


STATUS: dict[type[Exception], int] = {
    AbsentVariableError: 409,
    AlreadyWithdrawnError: 409,
    ArtefactFileMissingError: 410,
    ArtefactTooLargeError: 413,
    ArtefactUnreadableError: 422,
    ArtefactsTooLargeError: 413,
    AttributionStateError: 409,
    CellNotInJobError: 422,
    CursorError: 422,
    DigestMismatchError: 422,
    EventNotComparableError: 422,
    FirstTokenError: 409,
    FrozenBaselineError: 409,
    IncidentStateError: 409,
    KeyReusedError: 409,
    LeaseLostError: 409,
    CardsLeasedError: 409,
    ClocksApartError: 409,
    MovedOnError: 409,
    NotALatencyError: 422,
    NotJudgedError: 422,
    NotMeasuredError: 409,
    NotWithdrawnError: 409,
    NothingMeasuredError: 404,
    NothingToPinError: 404,
    NothingToProfileError: 409,
    NoControlError: 422,
    OneHostError: 422,
    RebootError: 422,
    PathMismatchError: 422,
    PolicyError: 422,
    ReleaseTextError: 400,
    ReleasesApartError: 400,
    RepeatedCellError: 422,
    ReplacedRunError: 409,
    ReplacementError: 422,
    RuleTakenError: 409,
    SameStackError: 422,
    ScopeMissingError: 403,
    StaleTokenError: 409,
    TokenMissingError: 401,
    TokenNameTakenError: 409,
    TokenOverError: 409,
    TokenRefusedError: 401,
    TooManySchedulesError: 409,
    TransitionError: 409,
    UnknownArtefactError: 404,
    UnknownAttributionError: 404,
    UnknownComponentError: 422,
    UnknownConditionError: 404,
    UnknownConfirmError: 404,
    UnknownConstraintError: 404,
    UnknownEventError: 404,
    UnknownGateError: 404,
    UnknownImportError: 404,
    UnknownIncidentError: 404,
    UnknownJobError: 404,
    UnknownLaunchError: 404,
    UnknownMetricError: 404,
    UnknownMoveError: 404,
    UnknownProtocolError: 404,
    UnknownQualificationError: 404,
    UnknownRuleError: 404,
    UnknownRunError: 404,
    UnknownRunnerError: 404,
    UnknownScheduleError: 404,
    UnknownSessionError: 404,
    UnknownStackError: 404,
    UnknownTokenError: 404,
    UnknownWaiverError: 404,
    UnknownWebhookError: 404,
    UnlikeKindsError: 422,
    UntickedError: 422,
    WrongHostError: 422,
    WrongStepError: 409,
    WaiverTimeError: 422,
    WebhookRemovedError: 409,
    WebhookTakenError: 409,
}

# A database that is away, busy or stopping is worth another try; nothing was stored.
AWAY = (OperationalError, InterfaceError, PoolTimeoutError)


def install(app: FastAPI) -> None:
    """Answer every known error with its status, its name and its own words."""
    for kind, status in STATUS.items():
        app.add_exception_handler(kind, partial(_answer, status))
    for away in AWAY:
        app.add_exception_handler(away, _answer_away)
    # Text or a number that a request may hold and the database's columns may not.
    app.add_exception_handler(DataError, _answer_unstorable)
    app.add_exception_handler(OverflowError, _answer_unstorable)
    app.add_exception_handler(StatementError, _answer_wild)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(Exception, _answer_failure)


def answered(problem: Problem, headers: dict[str, str] | None = None) -> Response:
    """Return a problem as a response."""
    return Response(
        problem.model_dump_json(), problem.status, headers=headers, media_type=MEDIA_TYPE
    )


def _answer(status: int, _: Request, error: Exception) -> Response:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None  # noqa: PLR2004 — the one status with a header of its own
    return answered(Problem(type=type(error).__name__, title=str(error), status=status), headers)


def _answer_away(_: Request, error: Exception) -> Response:
    LOG.warning("database away", error=_told(error))
    words = "the database does not answer now; nothing was stored, try again"
    problem = Problem(type="DatabaseAwayError", title=words, status=503)
    return answered(problem, {"Retry-After": RETRY_AFTER_S})


def _answer_unstorable(_: Request, error: Exception) -> Response:
    words = f"the request holds a text or a number that cannot be stored: {_told(error)}"
    return answered(Problem(type="UnstorableError", title=words, status=422))


def _answer_wild(request: Request, error: Exception) -> Response:
    """Answer a number that was too large before the database saw it; anything else is a fault."""
    if not isinstance(error, StatementError) or not isinstance(error.orig, OverflowError):
        raise error
    return _answer_unstorable(request, error)


def _told(error: Exception) -> str:
    return words_of(error) if isinstance(error, SQLAlchemyError) else str(error)


def _answer_failure(request: Request, _: Exception) -> Response:
    """Answer what nobody foresaw; the log has the whole of it.

    This answer passes by the guard, so the release is named here: without it a caller would not
    know that it is Kunline who answers.
    """
    problem = Problem(type="FailureError", title="the service failed; its log says how", status=500)
    return answered(problem, {"X-Kunline-Version": request.app.version})


def _answer_invalid(_: Request, error: Exception) -> Response:
    found = error.errors() if isinstance(error, RequestValidationError) else ()
    fields = tuple(
        FieldProblem(field=".".join(str(part) for part in each["loc"]), message=str(each["msg"]))
        for each in found
    )
    words = f"the request does not fit in {len(fields)} place{'s' if len(fields) != 1 else ''}"
    return answered(Problem(type="RequestInvalidError", title=words, status=422, fields=fields))


def _answer_http(_: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    problem = Problem(type="HTTPError", title=str(error.detail), status=error.status_code)
    return answered(problem, dict(error.headers or {}))
