"""Stand-ins for GitHub, Gitee and a webhook's receiver: they refuse what is not documented.

Each request is held to the forge's own documentation: method, path, headers, fields and their
lengths. Whatever is otherwise is refused as the forge would, and kept in `odd`, which every test
expects to be empty.
"""

import json
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

COMMENT_MAX = 65_536
SUMMARY_MAX = 65_535
DESCRIPTION_MAX = 140
REPOSITORY = "acme/engine"
HEAD = "ab" * 20
CONCLUSIONS = {"success", "failure", "neutral", "cancelled", "skipped", "timed_out"}
Answer = tuple[int, Any]


class RefusalError(Exception):
    """The stand-in refuses a request, with a status and words."""

    def __init__(self, status: int, message: str) -> None:
        self.status, self.message = status, message
        super().__init__(message)


@dataclass(frozen=True)
class Request:
    """One request as the stand-in saw it."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    def document(self) -> dict[str, Any]:
        """Return the JSON body. Raises RefusalError where the type or the text is otherwise."""
        if self.headers.get("content-type") != "application/json":
            raise RefusalError(415, "a JSON body is documented")
        found: dict[str, Any] = json.loads(self.body)
        return found

    def form(self) -> dict[str, str]:
        """Return the form's fields. Raises RefusalError where the type is otherwise."""
        if self.headers.get("content-type") != "application/x-www-form-urlencoded":
            raise RefusalError(415, "a form is documented")
        return dict(parse_qsl(self.body.decode(), strict_parsing=True))


@dataclass
class StandIn(ABC):
    """A server with the state of one forge. failures: statuses to answer next, whatever is asked.

    tokens: whose each token is; None stands for a workflow's own, which may not ask who it is.
    """

    tokens: dict[str, str | None] = field(default_factory=dict)
    head: str = HEAD
    comments: list[dict[str, Any]] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    statuses: list[dict[str, Any]] = field(default_factory=list)
    failures: list[int] = field(default_factory=list)
    failure_headers: dict[str, str] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    url: str = ""

    def answer(self, request: Request) -> tuple[int, Any, dict[str, str]]:
        """Return status, document and headers for a request."""
        self.requests.append(request)
        if self.failures:
            return self.failures.pop(0), {"message": "try again"}, self.failure_headers
        headers: dict[str, str] = {}
        try:
            return *self._routed(request, headers), headers
        except RefusalError as error:
            if error.status not in {401, 403}:
                self.odd.append(f"{request.method} {request.path}: {error.message}")
            return error.status, {"message": error.message}, headers

    def _routed(self, request: Request, headers: dict[str, str]) -> Answer:
        for method, pattern, act in self.routes():
            found = re.fullmatch(pattern, request.path)
            if found and method == request.method:
                return act(request, headers, *found.groups())
        raise RefusalError(404, "Not Found")

    @abstractmethod
    def routes(self) -> list[tuple[str, str, Callable[..., Answer]]]:
        """Return the documented requests: method, path, and what answers them."""

    def author(self, request: Request) -> str | None:
        """Return whose token a request has. Raises RefusalError."""
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind != "Bearer" or token not in self.tokens:
            raise RefusalError(401, "Bad credentials")
        return self.tokens[token]

    def comment(self, body: str, author: str) -> dict[str, Any]:
        """Store a comment and return it."""
        number = len(self.comments) + 1
        stored = {
            "id": number,
            "user": {"login": author},
            "body": body,
            "html_url": f"https://forge.example/{REPOSITORY}/pull/7#{number}",
            "created_at": "2026-11-30T06:00:00Z",
        }
        self.comments.append(stored)
        return stored

    def edit(self, number: str, body: str, author: str) -> Answer:
        """Change a comment; that somebody else's is changed is odd."""
        stored = next((each for each in self.comments if each["id"] == int(number)), None)
        if stored is None:
            raise RefusalError(404, "no such comment")
        if stored["user"]["login"] != author:
            raise RefusalError(422, "somebody else's comment was to be edited")
        stored["body"] = body
        return 200, stored

    def page(self, request: Request, headers: dict[str, str]) -> list[dict[str, Any]]:
        """Return a page of comments; as documented, more than 100 a page are not given."""
        size = min(int(request.query.get("per_page", "30")), 100)
        page = int(request.query.get("page", "1"))
        if page * size < len(self.comments):
            headers["Link"] = f'<{self.url}{request.path}?page={page + 1}>; rel="next"'
        return self.comments[(page - 1) * size : page * size]

    def publish(self, run: dict[str, Any], stored: dict[str, Any] | None) -> dict[str, Any]:
        """Store a new check run, or change one."""
        if stored is None:
            stored = {"id": len(self.checks) + 1, "html_url": "https://forge.example/check"}
            self.checks.append(stored)
        stored.update(run)
        return stored


@dataclass
class GitHubStandIn(StandIn):
    """GitHub's REST API. apps: tokens that may write check runs; readers: that may not write."""

    apps: set[str] = field(default_factory=set)
    readers: set[str] = field(default_factory=set)

    def routes(self) -> list[tuple[str, str, Callable[..., Answer]]]:
        """Return the documented requests."""
        at = f"/repos/{REPOSITORY}"
        return [
            ("GET", "/user", self._user),
            ("GET", f"{at}/pulls/(\\d+)", self._pull),
            ("GET", f"{at}/issues/(\\d+)/comments", self._list),
            ("POST", f"{at}/issues/(\\d+)/comments", self._create),
            ("PATCH", f"{at}/issues/comments/(\\d+)", self._edit),
            ("GET", f"{at}/commits/([0-9a-f]+)/check-runs", self._runs),
            ("POST", f"{at}/check-runs", self._new_run),
            ("PATCH", f"{at}/check-runs/(\\d+)", self._changed_run),
            ("POST", f"{at}/statuses/([0-9a-f]+)", self._status),
        ]

    def author(self, request: Request) -> str:
        """Return whose token it is, with the documented headers required."""
        if request.headers.get("accept") != "application/vnd.github+json":
            raise RefusalError(415, "the media type application/vnd.github+json is documented")
        if request.headers.get("x-github-api-version") != "2022-11-28":
            raise RefusalError(400, "the API version 2022-11-28 is documented")
        if not request.headers.get("user-agent"):
            raise RefusalError(403, "a user agent is demanded")
        return super().author(request) or "github-actions[bot]"

    def writer(self, request: Request) -> str:
        """Return whose token it is, if it may write."""
        author = self.author(request)
        if request.headers["authorization"].removeprefix("Bearer ") in self.readers:
            raise RefusalError(403, "Resource not accessible by integration")
        return author

    def _user(self, request: Request, _: dict[str, str]) -> Answer:
        if StandIn.author(self, request) is None:
            raise RefusalError(403, "Resource not accessible by integration")
        return 200, {"login": self.author(request), "id": 1}

    def _pull(self, request: Request, _: dict[str, str], number: str) -> Answer:
        self.author(request)
        return 200, {"number": int(number), "head": {"sha": self.head, "ref": "topic"}}

    def _list(self, request: Request, headers: dict[str, str], _number: str) -> Answer:
        self.author(request)
        return 200, self.page(request, headers)

    def _create(self, request: Request, _: dict[str, str], _number: str) -> Answer:
        author = self.writer(request)
        return 201, self.comment(_body(request.document(), {"body"}), author)

    def _edit(self, request: Request, _: dict[str, str], number: str) -> Answer:
        author = self.writer(request)
        return self.edit(number, _body(request.document(), {"body"}), author)

    def _runs(self, request: Request, _: dict[str, str], sha: str) -> Answer:
        self.author(request)
        if set(request.query) - {"check_name", "status", "filter", "per_page", "page", "app_id"}:
            raise RefusalError(422, f"unknown parameters in {request.query}")
        runs = [
            run
            for run in self.checks
            if run["head_sha"] == sha and run["name"] == request.query.get("check_name")
        ]
        return 200, {"total_count": len(runs), "check_runs": runs}

    def _new_run(self, request: Request, _: dict[str, str]) -> Answer:
        self._app(request)
        run = request.document()
        if not {"name", "head_sha"} <= set(run):
            raise RefusalError(422, "name and head_sha are required")
        return 201, self.publish(_run(run), None)

    def _changed_run(self, request: Request, _: dict[str, str], number: str) -> Answer:
        self._app(request)
        return 200, self.publish(_run(request.document()), self.checks[int(number) - 1])

    def _app(self, request: Request) -> None:
        self.writer(request)
        if request.headers["authorization"].removeprefix("Bearer ") not in self.apps:
            raise RefusalError(403, "You must authenticate via a GitHub App.")

    def _status(self, request: Request, _: dict[str, str], sha: str) -> Answer:
        self.writer(request)
        status = request.document()
        if status.get("state") not in {"error", "failure", "pending", "success"}:
            raise RefusalError(422, "no such state")
        if set(status) - {"state", "target_url", "description", "context"}:
            raise RefusalError(422, "unknown fields")
        if len(status.get("description", "")) > DESCRIPTION_MAX:
            raise RefusalError(422, "description is too long (maximum is 140 characters)")
        self.statuses.append({**status, "sha": sha})
        return 201, status


@dataclass
class GiteeStandIn(StandIn):
    """Gitee's API v5."""

    def routes(self) -> list[tuple[str, str, Callable[..., Answer]]]:
        """Return the documented requests."""
        at = f"/api/v5/repos/{REPOSITORY}"
        return [
            ("GET", "/api/v5/user", self._user),
            ("GET", f"{at}/pulls/(\\d+)", self._pull),
            ("GET", f"{at}/pulls/(\\d+)/comments", self._list),
            ("POST", f"{at}/pulls/(\\d+)/comments", self._create),
            ("PATCH", f"{at}/pulls/comments/(\\d+)", self._edit),
            ("GET", f"{at}/commits/([0-9a-f]+)/check-runs", self._runs),
            ("POST", f"{at}/check-runs", self._new_run),
            ("PATCH", f"{at}/check-runs/(\\d+)", self._changed_run),
        ]

    def _person(self, request: Request) -> str:
        return self.author(request) or "nobody"

    def _user(self, request: Request, _: dict[str, str]) -> Answer:
        return 200, {"id": 1, "login": self._person(request)}

    def _pull(self, request: Request, _: dict[str, str], number: str) -> Answer:
        self._person(request)
        return 200, {"number": int(number), "head": {"sha": self.head, "label": "topic"}}

    def _list(self, request: Request, headers: dict[str, str], _number: str) -> Answer:
        self._person(request)
        if set(request.query) - {"page", "per_page", "direction", "comment_type"}:
            raise RefusalError(400, "unknown parameters")
        found = self.page(request, headers)
        headers.pop("Link", None)
        return 200, found

    def _create(self, request: Request, _: dict[str, str], _number: str) -> Answer:
        author = self._person(request)
        return 201, self.comment(_body(request.document(), {"body"}), author)

    def _edit(self, request: Request, _: dict[str, str], number: str) -> Answer:
        author = self._person(request)
        return self.edit(number, _body(request.document(), {"body"}), author)

    def _runs(self, request: Request, _: dict[str, str], sha: str) -> Answer:
        self._person(request)
        return 200, [run for run in self.checks if run["head_sha"] == sha]

    def _new_run(self, request: Request, _: dict[str, str]) -> Answer:
        self._person(request)
        form = request.form()
        if not {"name", "head_sha", "output[title]", "output[summary]"} <= set(form):
            raise RefusalError(400, "name, head_sha and output are required")
        return 201, self.publish(_flat_run(form), None)

    def _changed_run(self, request: Request, _: dict[str, str], number: str) -> Answer:
        self._person(request)
        return 200, self.publish(_flat_run(request.form()), self.checks[int(number) - 1])


@dataclass
class Receiver(StandIn):
    """What takes a webhook."""

    def routes(self) -> list[tuple[str, str, Callable[..., Answer]]]:
        """Return the one request."""
        return [("POST", "/hook", lambda _request, _headers: (204, None))]


@contextmanager
def standing_in(forge: StandIn) -> Iterator[StandIn]:
    """Serve a stand-in on a loopback port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body in one packet: two would wait for each other.
        wbufsize = -1

        def _serve(self) -> None:
            url = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            request = Request(
                method=self.command,
                path=url.path,
                query=dict(parse_qsl(url.query)),
                headers={name.lower(): value for name, value in self.headers.items()},
                body=self.rfile.read(length),
            )
            status, document, headers = forge.answer(request)
            content = b"" if document is None else json.dumps(document).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if status != 204:
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = _serve  # noqa: N815 — the names http.server calls

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    forge.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield forge
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _body(document: dict[str, Any], fields: set[str]) -> str:
    if set(document) != fields or not isinstance(document["body"], str):
        raise RefusalError(422, f"the fields {fields} are documented, there are {set(document)}")
    if not 0 < len(document["body"]) <= COMMENT_MAX:
        raise RefusalError(422, "body is too long (maximum is 65536 characters)")
    return document["body"]


def _run(run: dict[str, Any]) -> dict[str, Any]:
    known = {"name", "head_sha", "external_id", "details_url", "status", "conclusion", "output"}
    output = run.get("output", {})
    if set(run) - known or set(output) - {"title", "summary", "text", "annotations"}:
        raise RefusalError(422, f"unknown fields in {set(run) | set(output)}")
    if run.get("status") != "completed" or run.get("conclusion") not in CONCLUSIONS:
        raise RefusalError(422, "a conclusion belongs to a completed run")
    if not output.get("title") or not 0 < len(output.get("summary", "")) <= SUMMARY_MAX:
        raise RefusalError(422, "title and summary are required, below 65535 characters")
    return run


def _flat_run(form: dict[str, str]) -> dict[str, Any]:
    flat = {name: value for name, value in form.items() if not name.startswith("output[")}
    output = {
        name.removeprefix("output[").removesuffix("]"): value
        for name, value in form.items()
        if name.startswith("output[")
    }
    return _run({**flat, "output": output})
