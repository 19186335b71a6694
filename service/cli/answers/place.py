"""Where an answer belongs on a forge: a repository, a pull request, a commit, a build's page.

What a workflow on GitHub tells in its environment is read from there; options come before it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from service.cli.answers.calls import Seen
from service.cli.answers.forge import CommitSeen

# GitHub's own event documents are below this.
EVENT_BYTES_MAX = 32 * 2**20
_NAME = r"(?!\.{1,2}(?:/|$))[A-Za-z0-9_.-]+"
_REPOSITORY = re.compile(f"{_NAME}/{_NAME}")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class NoPlaceError(ValueError):
    """It is not known to which repository or commit an answer belongs."""


class EventError(ValueError):
    """The document that tells of a workflow's event cannot be read."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer belongs. None: not told; an answer of a push has no pull request."""

    repository: str | None = None
    pull_request: int | None = None
    commit: str | None = None
    details_url: str | None = None

    def or_else(self, other: "Place") -> "Place":
        """Return this place, with the other's word where this one has none."""
        return Place(
            self.repository or other.repository,
            self.pull_request or other.pull_request,
            self.commit or other.commit,
            self.details_url or other.details_url,
        )

    def of_repository(self) -> str:
        """Return the repository as owner/name. Raises NoPlaceError."""
        if self.repository is None:
            raise NoPlaceError("no repository is named: --repository OWNER/NAME says which")
        if not _REPOSITORY.fullmatch(self.repository):
            raise NoPlaceError(
                f"{self.repository!r} is no repository: --repository OWNER/NAME says which"
            )
        return self.repository

    def of_commit(self) -> str:
        """Return the whole id of the commit. Raises NoPlaceError."""
        if self.commit is None:
            raise NoPlaceError("no commit is named: --commit SHA says which")
        if not _COMMIT.fullmatch(self.commit):
            raise NoPlaceError(f"{self.commit!r} is no whole commit id: --commit SHA says which")
        return self.commit


class _PullRequest(Seen):
    number: int
    head: CommitSeen


class _Event(Seen):
    pull_request: _PullRequest | None = None


def workflow_place(environ: Mapping[str, str]) -> Place:
    """Return what a workflow on GitHub tells of its place; nothing elsewhere. Raises EventError.

    The commit of a pull request is its head: what a workflow checks out is a merge of it that
    nobody looks at.
    """
    place = Place(
        repository=environ.get("GITHUB_REPOSITORY"),
        commit=environ.get("GITHUB_SHA"),
        details_url=_run_url(environ),
    )
    path = environ.get("GITHUB_EVENT_PATH")
    event = _event(Path(path)) if path else _Event()
    if event.pull_request is None:
        return place
    return replace(
        place, pull_request=event.pull_request.number, commit=event.pull_request.head.sha
    )


def _run_url(environ: Mapping[str, str]) -> str | None:
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
    server, repository, run = (environ.get(name) for name in names)
    if not (server and repository and run):
        return None
    return f"{server}/{repository}/actions/runs/{run}"


def _event(path: Path) -> _Event:
    try:
        with path.open("rb") as file:
            return _Event.model_validate_json(file.read(EVENT_BYTES_MAX))
    except (OSError, ValidationError) as error:
        message = f"GITHUB_EVENT_PATH {path} cannot be read: {type(error).__name__}"
        raise EventError(message) from error
