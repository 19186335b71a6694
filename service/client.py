"""The one door as typed calls: what runners, the command line and scripts ask of the service."""

import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from hashlib import sha256
from importlib.metadata import version
from typing import TypeVar
from urllib.parse import quote
from uuid import UUID

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from service.domain.release import ReleasesApartError, ReleaseTextError, require_near
from service.formats.audits import AuditRead
from service.formats.baselines import BaselinePin, BaselineRead
from service.formats.comparisons import CellsCompared, SessionVerdicts
from service.formats.events import EventDetail, EventPage
from service.formats.identities import StackOrder
from service.formats.imports import ImportOrder, ImportRead
from service.formats.messages import Message
from service.formats.noise import NoiseRead
from service.formats.orders import Claim, Finish, JobOrder, Renewal, Renewed
from service.formats.problems import Problem
from service.formats.reports import LaunchReport, RunReport, Stored
from service.formats.runners import RunnerRead, RunnerState, RunnerStateOrder
from service.formats.runs import RunDetail, RunPage, RunState
from service.formats.sessions import JobRead, SessionOrder, SessionRead
from service.formats.withdrawals import RestorationOrder, WithdrawalOrder, WithdrawalRead

VERSION_HEADER = "X-Kunline-Version"
TRIES = 4
FIRST_PAUSE_S = 0.25
# As many conditions as one call asks the noise of.
NOISE_BATCH = 100
# Answers of a service that is starting, stopping or short of something: worth another try.
PASSING = frozenset({502, 503, 504})
# The problems that tell a runner to let go of its job.
LEASE_PROBLEMS = frozenset({"LeaseLostError", "StaleTokenError"})
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
# Whom to trust takes 25 ms to read, and at http:// nobody shows a certificate.
NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

Answer = TypeVar("Answer", bound=BaseModel)
Query = Mapping[str, str | int | bool | list[str] | None]


class ServiceAwayError(ConnectionError):
    """The service could not be reached, or failed, however often it was asked."""


class RefusedError(ValueError):
    """The service refused a call; the message is its own words."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        fields = "".join(f"; {found.field}: {found.message}" for found in problem.fields)
        super().__init__(f"{problem.title}{fields}")


class LeaseLostError(RefusedError):
    """The job is no longer this runner's: stop it, and report nothing more for it."""


class Client:
    """Calls of the HTTP API over a connection that the caller opens and closes."""

    def __init__(self, http: httpx.Client, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._http = http
        self._sleep = sleep
        self._version = version("kunline")

    def submit(self, order: SessionOrder, *, idempotency_key: str) -> SessionRead:
        """Queue a session; asked again with the same key, return the one already there."""
        response = self._send(
            "POST", "sessions", body=order, headers={"Idempotency-Key": idempotency_key}
        )
        return _read(SessionRead, response)

    def session(self, session_id: UUID) -> SessionRead:
        """Return one session and its jobs."""
        return _read(SessionRead, self._send("GET", f"sessions/{session_id}"))

    def sessions(self, *, limit: int = 20) -> tuple[SessionRead, ...]:
        """Return the newest sessions, newest first."""
        return _read_all(SessionRead, self._send("GET", "sessions", query={"limit": limit}))

    def cancel(self, session_id: UUID) -> SessionRead:
        """Cancel a session: queued jobs at once, a running one at its next sign of life."""
        return _read(SessionRead, self._send("POST", f"sessions/{session_id}/cancel"))

    def verdicts(self, session_id: UUID, *, baseline: str | None = None) -> SessionVerdicts:
        """Return the verdicts of a session's cells.

        baseline: key of the stack to hold the others to; None for the session's own choice.
        """
        query = {"baseline": baseline}
        return _read(
            SessionVerdicts, self._send("GET", f"sessions/{session_id}/verdicts", query=query)
        )

    def claim(self, claim: Claim) -> JobOrder | None:
        """Return a job to do now, or None. Whatever this runner held before is lost with it."""
        response = self._send("POST", "jobs/claim", body=claim)
        return None if response.status_code == httpx.codes.NO_CONTENT else _read(JobOrder, response)

    def renew(self, job_id: UUID, renewal: Renewal) -> Renewed:
        """Give a sign of life. Raises LeaseLostError when the job is somebody else's by now."""
        return _read(Renewed, self._send("POST", f"jobs/{job_id}/renew", body=renewal))

    def finish(self, job_id: UUID, fencing_token: int, *, handed_back: bool = False) -> JobRead:
        """Say that a job is done, or handed back unfinished by a person's wish.

        Raises LeaseLostError.
        """
        body = Finish(fencing_token=fencing_token, handed_back=handed_back)
        return _read(JobRead, self._send("POST", f"jobs/{job_id}/finish", body=body))

    def report_launch(self, report: LaunchReport) -> None:
        """Store what is known of a launch; a later report replaces it. Raises LeaseLostError."""
        self._send("PUT", f"launches/{report.launch_id}", body=report)

    def report_run(self, report: RunReport) -> Stored:
        """Store a run, once however often it is sent. Raises LeaseLostError."""
        return _read(Stored, self._send("PUT", f"runs/{report.run_id}", body=report))

    def put_artefact(self, content: bytes) -> str:
        """Store bytes under their digest and return it."""
        digest = sha256(content).hexdigest()
        self._send("PUT", f"artefacts/{digest}", content=content)
        return digest

    def artefact(self, digest: str) -> bytes:
        """Return the bytes of a digest. Raises RefusedError when they are not stored."""
        return self._send("GET", f"artefacts/{digest}").content

    def pin_baseline(self, pin: BaselinePin) -> tuple[BaselineRead, ...]:
        """Pin a stack as the baseline of the cells it was measured in."""
        return _read_all(BaselineRead, self._send("POST", "baselines", body=pin))

    def baselines(
        self, *, channel: str | None = None, history: bool = False
    ) -> tuple[BaselineRead, ...]:
        """Return the pins in force, or with history those they replaced as well."""
        query = {"channel": channel, "history": history or None}
        return _read_all(BaselineRead, self._send("GET", "baselines", query=query))

    def runs(
        self,
        *,
        stack_key: str | None = None,
        condition_key: str | None = None,
        session_id: UUID | None = None,
        state: RunState | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> RunPage:
        """Return runs, newest first, and the cursor of the next page."""
        query = {
            "stack_key": stack_key,
            "condition_key": condition_key,
            "session_id": str(session_id) if session_id else None,
            "state": state,
            "limit": limit,
            "cursor": cursor,
        }
        return _read(RunPage, self._send("GET", "runs", query=query))

    def stack(self, asked: str) -> StackOrder:
        """Return the one stack of a name, or whose key begins like that."""
        return _read(StackOrder, self._send("GET", f"stacks/{quote(asked, safe='')}"))

    def run(self, run_id: UUID) -> RunDetail:
        """Return one run with every repeat."""
        return _read(RunDetail, self._send("GET", f"runs/{run_id}"))

    def import_results(self, order: ImportOrder, *, idempotency_key: str) -> ImportRead:
        """Store results measured elsewhere; asked again with the same key, return the answer."""
        response = self._send(
            "POST", "imports", body=order, headers={"Idempotency-Key": idempotency_key}
        )
        return _read(ImportRead, response)

    def withdraw(self, run_id: UUID, order: WithdrawalOrder) -> WithdrawalRead:
        """Withdraw a run from every judgement."""
        return _read(WithdrawalRead, self._send("POST", f"runs/{run_id}/withdrawal", body=order))

    def restore(self, run_id: UUID, order: RestorationOrder) -> AuditRead:
        """Take a run's withdrawal back."""
        return _read(AuditRead, self._send("POST", f"runs/{run_id}/restoration", body=order))

    def history(self, run_id: UUID) -> tuple[AuditRead, ...]:
        """Return what people did to a run, oldest first."""
        return _read_all(AuditRead, self._send("GET", f"runs/{run_id}/history"))

    def compare(
        self, baseline: str, candidate: str, *, min_repeats: int | None = None
    ) -> CellsCompared:
        """Return the comparison of two runs (their ids) or two stacks (their keys or names)."""
        query = {"baseline": baseline, "candidate": candidate, "min_repeats": min_repeats}
        return _read(CellsCompared, self._send("GET", "comparisons", query=query))

    def noise(
        self,
        *,
        condition_keys: Sequence[str] = (),
        host: str | None = None,
        session_id: UUID | None = None,
    ) -> tuple[NoiseRead, ...]:
        """Return what is known of the noise under some conditions, or in a session's cells."""
        found: list[NoiseRead] = []
        for begin in range(0, max(len(condition_keys), 1), NOISE_BATCH):
            query = {
                "condition_key": list(condition_keys[begin : begin + NOISE_BATCH]),
                "host": host,
                "session_id": str(session_id) if session_id else None,
            }
            found += _read_all(NoiseRead, self._send("GET", "noise", query=query))
        return tuple(found)

    def events(
        self,
        *,
        host: str | None = None,
        condition_key: str | None = None,
        since: datetime | None = None,
        limit: int = 20,
        cursor: str | None = None,
    ) -> EventPage:
        """Return events, the newest seen first, and the cursor of the next page."""
        query = {
            "host": host,
            "condition_key": condition_key,
            "since": since.isoformat() if since else None,
            "limit": limit,
            "cursor": cursor,
        }
        return _read(EventPage, self._send("GET", "events", query=query))

    def event(self, event_id: UUID) -> EventDetail:
        """Return one event with the runs it came from."""
        return _read(EventDetail, self._send("GET", f"events/{event_id}"))

    def register_runner(self, claim: Claim) -> RunnerRead:
        """Say that a runner is here, what it owns and which life of it this is."""
        return _read(RunnerRead, self._send("PUT", f"runners/{claim.runner}", body=claim))

    def runners(self) -> tuple[RunnerRead, ...]:
        """Return every runner the service has heard of."""
        return _read_all(RunnerRead, self._send("GET", "runners"))

    def set_runner_state(self, name: str, state: RunnerState) -> RunnerRead:
        """Let a runner work, pause it or drain it."""
        body = RunnerStateOrder(state=state)
        return _read(RunnerRead, self._send("POST", f"runners/{name}/state", body=body))

    def ask(
        self,
        kind: type[Answer],
        path: str,
        *,
        method: str | None = None,
        body: Message | None = None,
        query: Query | None = None,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Return what one more noun answers. method: else GET, or POST where there is a body."""
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else None
        verb = method or ("GET" if body is None else "POST")
        return _read(kind, self._send(verb, path, body=body, query=query, headers=headers))

    def ask_all(
        self, kind: type[Answer], path: str, *, query: Query | None = None
    ) -> tuple[Answer, ...]:
        """Return a list that one more noun answers."""
        return _read_all(kind, self._send("GET", path, query=query))

    def ready(self) -> bool:
        """Return whether the service answers and its database is of this release."""
        try:
            response = self._http.get("/readyz", headers={VERSION_HEADER: self._version})
        except httpx.TransportError:
            return False
        return response.status_code == httpx.codes.OK

    def _send(
        self,
        method: str,
        path: str,
        *,
        body: Message | None = None,
        content: bytes | None = None,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Send a call and return its answer. Every call may be repeated, so each one is."""
        json = body.model_dump_json().encode() if body is not None else content
        request = self._http.build_request(
            method,
            f"/api/v1/{path}",
            content=json,
            params={name: value for name, value in (query or {}).items() if value is not None},
            headers={
                VERSION_HEADER: self._version,
                "Content-Type": "application/json" if body else "application/octet-stream",
                **(headers or {}),
            },
        )
        response = self._tried(request)
        self._require_near(response)
        if response.is_error:
            raise _refusal(response)
        return response

    def _tried(self, request: httpx.Request) -> httpx.Response:
        pause_s, seen = FIRST_PAUSE_S, ""
        for attempt in range(TRIES):
            if attempt:
                self._sleep(pause_s)
                pause_s *= 2
            try:
                response = self._http.send(request)
            except httpx.TransportError as error:
                seen = f"{type(error).__name__}: {error}"
                continue
            if response.status_code not in PASSING:
                return response
            seen = f"it answered {response.status_code}: {_words(response)}"
        raise ServiceAwayError(f"the service at {self._http.base_url} is away: {seen}")

    def _require_near(self, response: httpx.Response) -> None:
        service = response.headers.get(VERSION_HEADER)
        if service is None:
            raise ServiceAwayError(f"what answers at {self._http.base_url} is not Kunline")
        try:
            require_near(service=service, caller=self._version)
        except (ReleasesApartError, ReleaseTextError) as error:
            problem = Problem(type=type(error).__name__, title=str(error), status=400)
            raise RefusedError(problem) from error


@contextmanager
def connected(url: str, *, token: str | None = None, timeout_s: float = 30.0) -> Iterator[Client]:
    """Open a client of the service at a URL; a proxy is never asked for a loopback address."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    address = httpx.URL(url)
    beyond, trusted = address.host not in LOOPBACK, address.scheme == "https" or NOBODY
    with httpx.Client(
        base_url=url, headers=headers, timeout=timeout_s, trust_env=beyond, verify=trusted
    ) as http:
        yield Client(http)


def _read(kind: type[Answer], response: httpx.Response) -> Answer:
    """Return an answer; fields that a newer service has added are not looked at.

    Raises ServiceAwayError when it is not an answer of Kunline's at all.
    """
    try:
        return kind.model_validate_json(response.content, extra="ignore")
    except ValidationError as error:
        raise _no_answer(response, error) from error


def _read_all(kind: type[Answer], response: httpx.Response) -> tuple[Answer, ...]:
    answers = TypeAdapter(tuple[kind, ...])  # type: ignore[valid-type]  # a type made at run time
    try:
        return answers.validate_json(response.content, extra="ignore")
    except ValidationError as error:
        raise _no_answer(response, error) from error


def _no_answer(response: httpx.Response, error: ValidationError) -> ServiceAwayError:
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return ServiceAwayError(
        f"{response.url.path} answered {response.status_code} with something else than was asked "
        f"for ({place or 'body'}: {first['msg']})"
    )


def _refusal(response: httpx.Response) -> Exception:
    try:
        problem = Problem.model_validate_json(response.content)
    except ValidationError:
        return ServiceAwayError(f"{response.status_code}: {_words(response)}")
    if response.is_server_error:
        return ServiceAwayError(problem.title)
    return LeaseLostError(problem) if problem.type in LEASE_PROBLEMS else RefusedError(problem)


def _words(response: httpx.Response) -> str:
    return response.text[:300]
