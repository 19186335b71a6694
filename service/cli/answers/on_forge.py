"""An answer on a forge: the comment of a pull request, and the check of a commit."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import sha256

from service.cli.answers.calls import tried
from service.cli.answers.forge import Check, Conclusion, Forge, publish_comment
from service.cli.answers.gitee import API as GITEE_API
from service.cli.answers.gitee import gitee
from service.cli.answers.github import API as GITHUB_API
from service.cli.answers.github import github
from service.cli.answers.markdown import markdown
from service.cli.answers.marks import clipped, code
from service.cli.answers.place import Place, workflow_place
from service.cli.answers.sentences import check_title
from service.cli.answers.wanted import Surroundings, Wanted
from service.cli.answers.words import say
from service.domain.verdict import Outcome
from service.formats.gate_answers import GateAnswer

GITHUB_TOKENS = ("KUNLINE_GITHUB_TOKEN", "GITHUB_TOKEN")
GITEE_TOKENS = ("KUNLINE_GITEE_TOKEN", "GITEE_TOKEN")
# As much of a gate's name as a check's has room for, and of a commit as tells it apart.
NAME_MAX = 80
COMMIT_SHOWN = 12
# A check's title is one line of a list.
TITLE_MAX = 250


class NoTokenError(ValueError):
    """There is no token in the environment for what was asked."""


@dataclass(frozen=True, slots=True)
class OnForge:
    """An answer, and the forge that it goes to. opened: opens the repository there."""

    answer: GateAnswer
    wanted: Wanted
    place: Place
    opened: Callable[[], AbstractContextManager[Forge]]
    sleep: Callable[[float], None]

    def comment(self) -> str:
        """Write or edit the comment of the pull request, unless that has moved on.

        A gate may take an hour: what it says of a commit that was replaced meanwhile would stand
        above the code that is there now.
        """
        pull_request = self.place.pull_request
        if pull_request is None:
            return "there is no pull request"
        body = markdown(self.answer, self.wanted.language, footer=self._footer())
        with self.opened() as forge:

            def publish() -> str:
                head = forge.head(pull_request)
                if self.place.commit is not None and head != self.place.commit:
                    return f"left alone: the pull request is at {clipped(head, COMMIT_SHOWN)} now"
                return publish_comment(
                    forge,
                    pull_request,
                    marker=marker(self._key()),
                    body=body,
                    replaced=say(self.wanted.language, "replaced", url="{url}"),
                )

            return tried(publish, sleep=self.sleep)

    def check(self) -> str:
        """Create or edit the check of the commit."""
        check = Check(
            name=f"kunline gate: {clipped(self._key(), NAME_MAX)}",
            key=f"kunline-gate-{digest(self._key())}",
            commit=self.place.of_commit(),
            conclusion=conclusion(self.answer),
            title=clipped(check_title(self.answer, self.wanted.language), TITLE_MAX),
            summary=markdown(self.answer, self.wanted.language),
            url=self._details(),
        )
        with self.opened() as forge:
            return tried(lambda: forge.publish_check(check), sleep=self.sleep)

    def _key(self) -> str:
        return self.wanted.key or self.answer.plan

    def _details(self) -> str | None:
        """Return where the answer is shown: the build's page, or else the service's of it."""
        shown = next((each.url for each in self.answer.links if each.name == "gate"), None)
        return self.place.details_url or shown

    def _footer(self) -> str:
        language = self.wanted.language
        if self.place.commit is None:
            return say(language, "footer.no commit")
        return say(language, "footer", commit=code(self.place.commit[:COMMIT_SHOWN]))


def require_github(wanted: Wanted, environ: Mapping[str, str]) -> None:
    """Raise NoPlaceError, EventError or NoTokenError where an answer cannot get to GitHub."""
    _require(wanted, wanted.place.or_else(workflow_place(environ)))
    _token(environ, GITHUB_TOKENS)


def require_gitee(wanted: Wanted, environ: Mapping[str, str]) -> None:
    """Raise NoPlaceError or NoTokenError where an answer cannot get to Gitee."""
    _require(wanted, wanted.place)
    _token(environ, GITEE_TOKENS)


def _require(wanted: Wanted, place: Place) -> None:
    place.of_repository()
    if wanted.check:
        place.of_commit()


def on_github(answer: GateAnswer, wanted: Wanted, around: Surroundings) -> OnForge:
    """Return an answer on its way to GitHub, or the Enterprise server that a workflow runs on.

    What options leave open is the workflow's. Raises NoPlaceError, EventError, NoTokenError.
    """
    environ = around.environ
    place = wanted.place.or_else(workflow_place(environ))
    repository, token = place.of_repository(), _token(environ, GITHUB_TOKENS)
    api = environ.get("GITHUB_API_URL") or GITHUB_API
    login = environ.get("KUNLINE_GITHUB_LOGIN") or None

    def opened() -> AbstractContextManager[Forge]:
        return github(repository, token, api=api, own_login=login)

    return OnForge(answer, wanted, place, opened, around.sleep)


def on_gitee(answer: GateAnswer, wanted: Wanted, around: Surroundings) -> OnForge:
    """Return an answer on its way to Gitee, or to an instance of one's own.

    Raises NoPlaceError and NoTokenError.
    """
    repository, token = wanted.place.of_repository(), _token(around.environ, GITEE_TOKENS)
    api = around.environ.get("KUNLINE_GITEE_API_URL") or GITEE_API

    def opened() -> AbstractContextManager[Forge]:
        return gitee(repository, token, api=api)

    return OnForge(answer, wanted, wanted.place, opened, around.sleep)


def conclusion(answer: GateAnswer) -> Conclusion:
    """Return what a check concludes: an answer without power that passes is neutral."""
    if answer.exit_code:
        return Conclusion.FAILURE
    if answer.outcome is Outcome.INCONCLUSIVE:
        return Conclusion.NEUTRAL
    return Conclusion.SUCCESS


def marker(key: str) -> str:
    """Return the first line of a comment of a key, which no reader sees."""
    return f"<!-- kunline gate {digest(key)} -->"


def digest(key: str) -> str:
    """Return a key as forges are given it: nothing in it can be mistaken for a mark."""
    return sha256(key.encode()).hexdigest()[:12]


def _token(environ: Mapping[str, str], names: tuple[str, ...]) -> str:
    found = next((environ[name] for name in names if environ.get(name)), None)
    if found is None:
        raise NoTokenError(f"no token is in {' or '.join(names)}")
    return found
