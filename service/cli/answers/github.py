"""GitHub's REST API, as far as an answer needs it: comments, check runs and commit statuses.

Requests are those of docs.github.com/rest, version 2022-11-28: "issues/comments", "checks/runs",
"commits/statuses", "pulls/pulls" and "users/users".
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from service.cli.answers.calls import (
    Calls,
    RefusedError,
    Seen,
    opened,
    read_as,
    require_private,
)
from service.cli.answers.forge import (
    PAGE,
    PAGES_MAX,
    Check,
    Comment,
    CommentSeen,
    Conclusion,
    PullRequestSeen,
    TooManyCommentsError,
    UserSeen,
)
from service.cli.answers.marks import clipped

API = "https://api.github.com"
API_VERSION = "2022-11-28"
# The author of what a workflow's own token writes: that token may not ask who it is.
WORKFLOW_LOGIN = "github-actions[bot]"
# A status has one line of this many characters.
DESCRIPTION_MAX = 140
# A status knows no neutral: what does not block is a success whose words say inconclusive.
STATE = {
    Conclusion.SUCCESS: "success",
    Conclusion.NEUTRAL: "success",
    Conclusion.FAILURE: "failure",
}


class _CheckRun(Seen):
    id: int
    external_id: str | None = None
    html_url: str | None = None


class _CheckRuns(Seen):
    check_runs: tuple[_CheckRun, ...]


@dataclass(frozen=True, slots=True)
class GitHub:
    """One repository on GitHub, seen by a token. own_login: for an app's token, else None."""

    calls: Calls
    repository: str
    own_login: str | None = None

    @property
    def name(self) -> str:
        """Return what the forge is called."""
        return "GitHub"

    def login(self) -> str:
        """Return whose token it is. An app's may not ask, and is a workflow's unless said."""
        if self.own_login is not None:
            return self.own_login
        try:
            return read_as(UserSeen, self.calls.send("GET", "/user")).login
        except RefusedError as error:
            if error.status != httpx.codes.FORBIDDEN:
                raise
            return WORKFLOW_LOGIN

    def head(self, pull_request: int) -> str:
        """Return the commit that a pull request stands at now."""
        response = self.calls.send("GET", self._path(f"pulls/{pull_request}"))
        return read_as(PullRequestSeen, response).head.sha

    def comments(self, pull_request: int) -> Iterator[Comment]:
        """Yield the comments of a pull request, oldest first. Raises TooManyCommentsError."""
        path = self._path(f"issues/{pull_request}/comments")
        for page in range(1, PAGES_MAX + 1):
            response = self.calls.send("GET", path, query={"per_page": PAGE, "page": page})
            for each in read_as(tuple[CommentSeen, ...], response):
                yield each.comment()
            if "next" not in response.links:
                return
        raise TooManyCommentsError(pull_request)

    def create_comment(self, pull_request: int, body: str) -> Comment:
        """Write a new comment and return it."""
        path = self._path(f"issues/{pull_request}/comments")
        response = self.calls.send("POST", path, json={"body": body})
        return read_as(CommentSeen, response).comment()

    def edit_comment(self, comment: Comment, body: str) -> None:
        """Replace the body of a comment."""
        path = self._path(f"issues/comments/{comment.id}")
        self.calls.send("PATCH", path, json={"body": body})

    def publish_check(self, check: Check) -> str:
        """Create a check run or edit the one of its key; where only apps may, set a status."""
        try:
            return self._publish_check_run(check)
        except RefusedError as error:
            if error.status != httpx.codes.FORBIDDEN:
                raise
            self._set_status(check)
            return f"status {check.name}"

    def _publish_check_run(self, check: Check) -> str:
        there = self._check_run(check)
        body: dict[str, Any] = {
            "name": check.name,
            "external_id": check.key,
            "status": "completed",
            "conclusion": check.conclusion,
            "output": {"title": check.title, "summary": check.summary},
        }
        if check.url is not None:
            body["details_url"] = check.url
        if there is None:
            new = {"head_sha": check.commit, **body}
            response = self.calls.send("POST", self._path("check-runs"), json=new)
        else:
            path = self._path(f"check-runs/{there.id}")
            response = self.calls.send("PATCH", path, json=body)
        return read_as(_CheckRun, response).html_url or f"check {check.name}"

    def _check_run(self, check: Check) -> _CheckRun | None:
        query: dict[str, str | int] = {"check_name": check.name, "filter": "latest"}
        path = self._path(f"commits/{check.commit}/check-runs")
        found = read_as(_CheckRuns, self.calls.send("GET", path, query=query))
        return next((run for run in found.check_runs if run.external_id == check.key), None)

    def _set_status(self, check: Check) -> None:
        body = {
            "state": STATE[check.conclusion],
            "context": check.name,
            "description": clipped(check.title, DESCRIPTION_MAX),
        }
        if check.url is not None:
            body["target_url"] = check.url
        self.calls.send("POST", self._path(f"statuses/{check.commit}"), json=body)

    def _path(self, below: str) -> str:
        return f"/repos/{self.repository}/{below}"


@contextmanager
def github(
    repository: str, token: str, *, api: str = API, own_login: str | None = None
) -> Iterator[GitHub]:
    """Open a repository on GitHub. Raises UnsafeAddressError."""
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {token}",
        "X-GitHub-Api-Version": API_VERSION,
        "User-Agent": "kunline",
    }
    with opened(base_url=require_private(api), headers=headers) as http:
        yield GitHub(Calls(http), repository, own_login)
