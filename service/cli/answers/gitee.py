"""Gitee's API v5, as far as an answer needs it: comments of pull requests, and check runs.

Requests are those of gitee.com/api/v5/swagger, version 5.4: the tags "Pull Requests", "Checks"
and "Users". The token goes in a header, so that no address holds it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pydantic import RootModel

from service.cli.answers.calls import Calls, Seen, opened, read_as, require_private
from service.cli.answers.forge import (
    PAGE,
    PAGES_MAX,
    Check,
    Comment,
    CommentSeen,
    PullRequestSeen,
    TooManyCommentsError,
    UserSeen,
)

API = "https://gitee.com/api"


class _CheckRun(Seen):
    id: int
    name: str | None = None
    html_url: str | None = None


class _CheckRuns(Seen):
    check_runs: tuple[_CheckRun, ...]


class _Found(RootModel[_CheckRuns | tuple[_CheckRun, ...]]):
    """A commit's check runs: the documentation leaves open which of the two it is."""


@dataclass(frozen=True, slots=True)
class Gitee:
    """One repository on Gitee, seen by a person's token."""

    calls: Calls
    repository: str

    @property
    def name(self) -> str:
        """Return what the forge is called."""
        return "Gitee"

    def login(self) -> str:
        """Return whose token it is."""
        return read_as(UserSeen, self.calls.send("GET", "/v5/user")).login

    def head(self, pull_request: int) -> str:
        """Return the commit that a pull request stands at now."""
        response = self.calls.send("GET", self._path(f"pulls/{pull_request}"))
        return read_as(PullRequestSeen, response).head.sha

    def comments(self, pull_request: int) -> Iterator[Comment]:
        """Yield the comments of a pull request, oldest first. Raises TooManyCommentsError."""
        path = self._path(f"pulls/{pull_request}/comments")
        asked: dict[str, str | int] = {"direction": "asc", "comment_type": "pr_comment"}
        for page in range(1, PAGES_MAX + 1):
            response = self.calls.send("GET", path, query={**asked, "per_page": PAGE, "page": page})
            found = read_as(tuple[CommentSeen, ...], response)
            for each in found:
                yield each.comment()
            if len(found) < PAGE:
                return
        raise TooManyCommentsError(pull_request)

    def create_comment(self, pull_request: int, body: str) -> Comment:
        """Write a new comment and return it."""
        path = self._path(f"pulls/{pull_request}/comments")
        response = self.calls.send("POST", path, json={"body": body})
        return read_as(CommentSeen, response).comment()

    def edit_comment(self, comment: Comment, body: str) -> None:
        """Replace the body of a comment."""
        path = self._path(f"pulls/comments/{comment.id}")
        self.calls.send("PATCH", path, json={"body": body})

    def publish_check(self, check: Check) -> str:
        """Create a check run, or edit the one of the same name on the same commit."""
        there = self._check_run(check)
        form = {
            "name": check.name,
            "status": "completed",
            "conclusion": str(check.conclusion),
            "output[title]": check.title,
            "output[summary]": check.summary,
        }
        if check.url is not None:
            form["details_url"] = check.url
        if there is None:
            new = {"head_sha": check.commit, **form}
            response = self.calls.send("POST", self._path("check-runs"), form=new)
        else:
            path = self._path(f"check-runs/{there.id}")
            response = self.calls.send("PATCH", path, form=form)
        return read_as(_CheckRun, response).html_url or f"check {check.name}"

    def _check_run(self, check: Check) -> _CheckRun | None:
        path = self._path(f"commits/{check.commit}/check-runs")
        query: dict[str, str | int] = {"check_name": check.name, "filter": "latest"}
        found = read_as(_Found, self.calls.send("GET", path, query=query)).root
        runs = found.check_runs if isinstance(found, _CheckRuns) else found
        return next((run for run in runs if run.name == check.name), None)

    def _path(self, below: str) -> str:
        return f"/v5/repos/{self.repository}/{below}"


@contextmanager
def gitee(repository: str, token: str, *, api: str = API) -> Iterator[Gitee]:
    """Open a repository on Gitee. Raises UnsafeAddressError."""
    headers = {"Authorization": f"Bearer {token}", "User-Agent": "kunline"}
    with opened(base_url=require_private(api), headers=headers) as http:
        yield Gitee(Calls(http), repository)
