"""Answers delivered to stand-in forges: one comment and one check, however often it is done."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from service.cli.answers.calls import AwayError, RefusedError
from service.cli.answers.deliver import steps
from service.cli.answers.markdown import markdown
from service.cli.answers.on_forge import marker
from service.cli.answers.place import Place
from service.cli.answers.wanted import Wanted
from service.cli.answers.words import Language
from service.formats.gate_answers import GateAnswer
from tests.gate_answers import KINDS, all_well, inconclusive, passes, regressed
from tests.integration.delivering import Process, only_step
from tests.integration.forges import (
    HEAD,
    REPOSITORY,
    GiteeStandIn,
    GitHubStandIn,
    StandIn,
    standing_in,
)
from tests.odd_gate_answers import hostile, long

PLACE = Place(
    repository=REPOSITORY, pull_request=7, commit=HEAD, details_url="https://ci.example/1"
)
WORKFLOW, PERSON, READER = "ghs_workflow", "ghp_person", "ghs_reader"


@pytest.fixture
def github() -> Iterator[GitHubStandIn]:
    forge = GitHubStandIn(
        tokens={WORKFLOW: None, PERSON: "li-na", READER: None},
        apps={WORKFLOW, READER},
        readers={READER},
    )
    with standing_in(forge):
        yield forge
    assert forge.odd == []


@pytest.fixture
def gitee() -> Iterator[GiteeStandIn]:
    forge = GiteeStandIn(tokens={PERSON: "li-na"})
    with standing_in(forge):
        yield forge
    assert forge.odd == []


def process_of(forge: StandIn, token: str) -> Process:
    """Return a process that has a token for both forges, and their stand-in's address."""
    return Process(
        {
            "GITHUB_TOKEN": token,
            "GITHUB_API_URL": forge.url,
            "KUNLINE_GITEE_TOKEN": token,
            "KUNLINE_GITEE_API_URL": f"{forge.url}/api",
        }
    )


def wanted_of(forge: StandIn, **changed: object) -> Wanted:
    """Return the wish for a comment and a check on the forge of a stand-in."""
    on_github = isinstance(forge, GitHubStandIn)
    usual = {"github": on_github, "gitee": not on_github, "place": PLACE}
    return Wanted(**{**usual, **changed})  # type: ignore[arg-type]


def deliver(answer: GateAnswer, forge: StandIn, token: str, **changed: object) -> dict[str, str]:
    """Deliver an answer and return in words where each part arrived."""
    process = process_of(forge, token)
    found = steps(answer, wanted_of(forge, **changed), process.around())
    return {step.name.partition(" ")[0]: step.act() for step in found}


@pytest.fixture(params=["github", "gitee"])
def forge(request: pytest.FixtureRequest) -> StandIn:
    found: StandIn = request.getfixturevalue(request.param)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_of_every_kind_is_taken(forge: StandIn, kind: str) -> None:
    deliver(KINDS[kind](), forge, PERSON, language=Language.ZH)

    assert len(forge.comments) == 1
    assert len(forge.checks) + len(forge.statuses) == 1


@pytest.mark.parametrize("answer", [hostile(), long()], ids=["hostile", "long"])
def test_an_answer_that_is_hostile_or_long_is_taken(forge: StandIn, answer: GateAnswer) -> None:
    deliver(answer, forge, PERSON)

    assert len(forge.comments) == 1


def test_a_new_run_edits_its_own_comment_and_its_own_check(github: GitHubStandIn) -> None:
    first = deliver(regressed(), github, WORKFLOW)
    again = deliver(all_well(), github, WORKFLOW)

    assert first == again
    assert "unchanged" in github.comments[0]["body"]
    assert [check["conclusion"] for check in github.checks] == ["success"]


def test_a_new_run_edits_its_own_comment_and_its_own_check_on_gitee(gitee: GiteeStandIn) -> None:
    deliver(regressed(), gitee, PERSON)
    deliver(all_well(), gitee, PERSON)

    assert len(gitee.comments) == 1
    assert [check["conclusion"] for check in gitee.checks] == ["success"]


def test_the_same_answer_again_writes_no_comment_anew(forge: StandIn) -> None:
    deliver(regressed(), forge, PERSON)
    forge.requests.clear()
    deliver(regressed(), forge, PERSON)

    assert [each.path for each in forge.requests if "comments" in each.path] == [
        each.path for each in forge.requests if each.method == "GET" and "comments" in each.path
    ]


def test_our_comment_is_found_behind_hundreds_of_others(forge: StandIn) -> None:
    for number in range(250):
        forge.comment(f"comment {number}", "somebody")
    deliver(regressed(), forge, PERSON)
    forge.requests.clear()
    deliver(all_well(), forge, PERSON)

    assert len(forge.comments) == 251
    assert "unchanged" in forge.comments[-1]["body"]
    assert [each.query["page"] for each in forge.requests if "/7/comments" in each.path] == [
        "1", "2", "3",
    ]  # fmt: skip


def test_a_comment_that_somebody_else_marked_is_left_alone(forge: StandIn) -> None:
    forge.comment(f"{marker('pr')}\nall is well", "mallory")
    deliver(regressed(), forge, PERSON)

    assert forge.comments[0]["body"].endswith("all is well")
    assert len(forge.comments) == 2


def test_a_comment_of_ours_that_only_quotes_the_mark_is_left_alone(forge: StandIn) -> None:
    forge.comment(f"> {marker('pr')}\nwhat does this mean?", "li-na")
    deliver(regressed(), forge, PERSON)

    assert len(forge.comments) == 2


def test_of_two_comments_of_ours_the_younger_points_to_the_older(forge: StandIn) -> None:
    for word in ("one", "two"):
        forge.comment(f"{marker('pr')}\n{word}", "li-na")
    deliver(regressed(), forge, PERSON)
    first, second = (each["body"] for each in forge.comments)

    assert "regressed" in first
    assert second == f"A newer answer stands in [another comment]({forge.comments[0]['html_url']})."


def test_gates_of_two_plans_have_a_comment_each(forge: StandIn) -> None:
    deliver(regressed(), forge, PERSON)
    deliver(regressed(), forge, PERSON, key="nightly")

    assert len(forge.comments) == 2


def test_an_answer_for_a_commit_that_was_replaced_leaves_the_comment(forge: StandIn) -> None:
    forge.head = "cd" * 20
    where = deliver(regressed(), forge, PERSON)

    assert where["comment"] == "left alone: the pull request is at cdcdcdcdcdc… now"
    assert forge.comments == []
    assert [each.get("head_sha") or each["sha"] for each in forge.checks + forge.statuses] == [HEAD]


def test_without_a_pull_request_there_is_a_check_alone(forge: StandIn) -> None:
    place = Place(repository=REPOSITORY, commit=HEAD)
    where = deliver(regressed(), forge, PERSON, place=place)

    assert where["comment"] == "there is no pull request"
    assert forge.comments == []


@pytest.mark.parametrize(
    ("answer", "conclusion"),
    [
        pytest.param(regressed(), "failure", id="regressed"),
        pytest.param(inconclusive(), "failure", id="inconclusive and blocking"),
        pytest.param(passes(), "neutral", id="inconclusive and passing"),
        pytest.param(all_well(), "success", id="unchanged"),
    ],
)
def test_a_check_concludes_what_the_gate_does(
    github: GitHubStandIn, answer: GateAnswer, conclusion: str
) -> None:
    deliver(answer, github, WORKFLOW)
    (check,) = github.checks

    assert check["conclusion"] == conclusion
    assert check["output"]["summary"] == markdown(answer, Language.EN)
    assert check["details_url"] == "https://ci.example/1"


def test_where_only_apps_may_write_checks_a_status_is_set(github: GitHubStandIn) -> None:
    where = deliver(regressed(), github, PERSON)
    (status,) = github.statuses

    assert where["check"] == "status kunline gate: pr"
    assert status["state"] == "failure"
    assert status["sha"] == HEAD
    assert status["description"].startswith("regressed: The candidate is worse")


def test_a_status_that_does_not_block_says_that_it_is_inconclusive(github: GitHubStandIn) -> None:
    deliver(passes(), github, PERSON)

    assert github.statuses[0]["state"] == "success"
    assert github.statuses[0]["description"].startswith("inconclusive:")


def test_a_token_that_may_only_read_is_told_so_in_the_forges_own_words(
    github: GitHubStandIn,
) -> None:
    process = process_of(github, READER)
    found = steps(regressed(), wanted_of(github), process.around())

    with pytest.raises(RefusedError, match="403: Resource not accessible by integration") as seen:
        only_step("comment", found).act()
    assert READER not in str(seen.value)


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_forge_that_is_away_for_a_moment_gets_one_comment(forge: StandIn, status: int) -> None:
    forge.failures = [status]
    deliver(regressed(), forge, PERSON)

    assert len(forge.comments) == 1


def test_a_forge_that_asks_to_wait_is_asked_again_after_that_long(github: GitHubStandIn) -> None:
    github.failures, github.failure_headers = [403], {"Retry-After": "7"}
    process = process_of(github, WORKFLOW)
    only_step("comment", steps(regressed(), wanted_of(github), process.around())).act()

    assert process.paused_s == [7.0]


def test_a_forge_that_stays_away_is_given_up_after_four_tries(forge: StandIn) -> None:
    forge.failures = [503] * 10
    process = process_of(forge, PERSON)
    step = only_step("comment", steps(regressed(), wanted_of(forge), process.around()))

    with pytest.raises(AwayError, match="503"):
        step.act()
    assert process.paused_s == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("environ", "place", "message"),
    [
        pytest.param({}, PLACE, "no token is in", id="no token"),
        pytest.param({"GITHUB_TOKEN": "x"}, Place(), "no repository is named", id="no repository"),
        pytest.param({"GITHUB_TOKEN": "x"}, Place("../x"), "no repository: --", id="no such name"),
        pytest.param(
            {"GITHUB_TOKEN": "x", "GITHUB_API_URL": "http://forge.example"},
            PLACE,
            "not https",
            id="an open connection",
        ),
        pytest.param(
            {"GITHUB_TOKEN": "x", "GITHUB_EVENT_PATH": "nowhere"},
            PLACE,
            "GITHUB_EVENT_PATH",
            id="no event",
        ),
    ],
)
def test_what_is_missing_is_said_before_anything_is_sent(
    environ: Mapping[str, str], place: Place, message: str
) -> None:
    process = Process(dict(environ))
    found = steps(regressed(), Wanted(github=True, place=place), process.around())

    with pytest.raises(ValueError, match=message):
        only_step("comment", found).act()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(all_well(), "0 lines", id="none"),
        pytest.param(passes(), "1 line", id="one"),
        pytest.param(regressed(), "3 lines", id="several"),
    ],
)
def test_how_many_annotations_there_are_is_said(answer: GateAnswer, words: str) -> None:
    found = steps(answer, Wanted(github_actions=True), Process({}).around())

    assert only_step("annotations", found).act() == words


def test_a_workflow_tells_its_own_place(github: GitHubStandIn, tmp_path: Path) -> None:
    event = {"action": "opened", "pull_request": {"number": 7, "head": {"sha": HEAD}}}
    (tmp_path / "event.json").write_text(json.dumps(event))
    process = process_of(github, WORKFLOW)
    process.environ |= {
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_SHA": "ef" * 20,
        "GITHUB_SERVER_URL": "https://forge.example",
        "GITHUB_RUN_ID": "12",
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
    }
    for step in steps(regressed(), Wanted(github=True), process.around()):
        step.act()

    assert len(github.comments) == 1
    assert github.checks[0]["head_sha"] == HEAD
    assert github.checks[0]["details_url"] == f"https://forge.example/{REPOSITORY}/actions/runs/12"
