"""What every forge can do for an answer: one comment that is edited, and one check."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from service.cli.answers.calls import Seen

PAGE = 100
# Five thousand comments: a pull request with more is no place for one more of ours.
PAGES_MAX = 50


class TooManyCommentsError(ValueError):
    """A pull request has more comments than are looked through for ours."""

    def __init__(self, pull_request: int) -> None:
        super().__init__(
            f"pull request {pull_request} has more than {PAGE * PAGES_MAX} comments: ours was not "
            "found among them, and no new one is written"
        )


class Conclusion(StrEnum):
    """What a check concludes; inconclusive is never a success."""

    SUCCESS = "success"
    NEUTRAL = "neutral"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment of a pull request. url: where a person reads it."""

    id: int
    author: str
    body: str
    url: str


class UserSeen(Seen):
    """An account, as GitHub and Gitee alike answer it."""

    login: str


class CommentSeen(Seen):
    """A comment, as both answer it; its author's account may be gone."""

    id: int
    user: UserSeen | None
    body: str | None = None
    html_url: str

    def comment(self) -> Comment:
        """Return it as a comment."""
        author = self.user.login if self.user is not None else ""
        return Comment(self.id, author, self.body or "", self.html_url)


class CommitSeen(Seen):
    """A commit of a pull request, as both answer it."""

    sha: str


class PullRequestSeen(Seen):
    """A pull request, as both answer it."""

    head: CommitSeen


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a commit. key: by which a re-run finds it again; url: None for none."""

    name: str
    key: str
    commit: str
    conclusion: Conclusion
    title: str
    summary: str
    url: str | None


class Forge(Protocol):
    """One repository of a forge, seen by the owner of a token."""

    @property
    def name(self) -> str:
        """Return what the forge is called."""
        ...

    def login(self) -> str:
        """Return whose token it is: only this one's comments are edited."""
        ...

    def head(self, pull_request: int) -> str:
        """Return the commit that a pull request stands at now."""
        ...

    def comments(self, pull_request: int) -> Iterator[Comment]:
        """Yield the comments of a pull request, oldest first."""
        ...

    def create_comment(self, pull_request: int, body: str) -> Comment:
        """Write a new comment and return it."""
        ...

    def edit_comment(self, comment: Comment, body: str) -> None:
        """Replace the body of a comment."""
        ...

    def publish_check(self, check: Check) -> str:
        """Create a check, or edit the one of its key, and return in words where it stands."""
        ...


def publish_comment(
    forge: Forge, pull_request: int, *, marker: str, body: str, replaced: str
) -> str:
    """Write the one comment of a marker, or edit the one there is, and return its URL.

    Only comments that the token's owner wrote and that begin with the marker are ours. Of several,
    which two runs at the same moment may have left, the oldest is kept up to date, and the others
    are told to be replaced and lose their marker.

    body, replaced: without the marker; {url} in replaced is filled in.
    """
    ours, text = _ours(forge, pull_request, marker), f"{marker}\n{body}"
    if not ours:
        return forge.create_comment(pull_request, text).url
    first, *others = ours
    if first.body != text:
        forge.edit_comment(first, text)
    for other in others:
        forge.edit_comment(other, replaced.format(url=first.url))
    return first.url


def _ours(forge: Forge, pull_request: int, marker: str) -> list[Comment]:
    login = forge.login()
    return [
        comment
        for comment in forge.comments(pull_request)
        if comment.author == login and comment.body.lstrip().startswith(marker)
    ]
