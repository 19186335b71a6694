"""`kunline incident profile` and `profiles`: both stacks of an incident under the profiler."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated
from uuid import UUID

import typer

from service.cli.answers.words import Language
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.exit_codes import DONE, OPERATIONAL
from service.cli.language import Lang
from service.cli.lines import MILLISECONDS_PER_SECOND, share
from service.cli.person import user_name
from service.cli.profile_words import CATALOGUES
from service.cli.run import followed
from service.cli.tables import print_table
from service.cli.verdict_words import spoken
from service.client import Client
from service.formats.profiles import (
    ProfileArm,
    ProfileOrder,
    ProfileRead,
    ProfileSeen,
    StageProfiled,
)

COLUMNS = (
    "stack", "stage", "pass", "messages", "message", "share", "waiting", "other", "estimated",
    "ratio",
)  # fmt: skip
BUSIEST_SHOWN = 5
MIB = 2**20


def profile_incident(
    incident_id: UUID,
    why: Annotated[str, typer.Option(help="The reason, kept in the audit.")],
    condition: Annotated[
        str | None, typer.Option(help="A condition's whole key; else the cell that moved most.")
    ] = None,
    detach: Annotated[bool, typer.Option("--detach", help="Order it and do not wait.")] = False,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Let each stack of an incident pass once under the server's own profiler, a launch each.

    It says what of a pass is communication, beside the estimate, and where time goes. Times under a
    profiler are no measurement, so its runs are never judged. One that is not over yet is followed.

    Exit codes: 0 where each stack was profiled, else 1.

    Example: kunline incident profile 6f1c… --why "is it the links?"
    """
    order = ProfileOrder(why=why, who=user_name(), condition_key=condition)
    with service(url, token, lang) as client:
        found = client.ask(ProfileRead, f"incidents/{incident_id}/profiles", body=order)
        if not detach:
            followed(client, found.session_id, language=lang)
            found = _read(client, incident_id, found.session_id)
    if json:
        typer.echo(found.model_dump_json())
    else:
        _print(found, lang)
    whole = detach or all(arm.seen is not None for arm in found.arms)
    raise typer.Exit(DONE if whole else OPERATIONAL)


def show_profiles(
    incident_id: UUID,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Show what was profiled of an incident, the newest first.

    Example: kunline incident profiles 6f1c… --lang zh
    """
    with service(url, token, lang) as client:
        found = client.ask_all(ProfileRead, f"incidents/{incident_id}/profiles")
    if json:
        typer.echo(f"[{','.join(each.model_dump_json() for each in found)}]")
        return
    if not found:
        typer.echo(CATALOGUES[lang]["none"])
    for each in found:
        _print(each, lang)


def _read(client: Client, incident_id: UUID, session_id: UUID) -> ProfileRead:
    every = client.ask_all(ProfileRead, f"incidents/{incident_id}/profiles")
    return next(each for each in every if each.session_id == session_id)


def _print(profile: ProfileRead, language: Language) -> None:
    words = CATALOGUES[language]
    host = profile.host or words["nowhere"]
    typer.echo(words["title"].format(title=profile.title, host=host, session=profile.session_id))
    at = f"{profile.asked_at:%Y-%m-%d %H:%M} UTC"
    typer.echo(words["asked"].format(who=profile.asked_by, at=at, why=profile.why))
    rows = [row for arm in profile.arms for row in _rows(arm, words)]
    if rows:
        print_table([words[name] for name in COLUMNS], rows)
    for arm in profile.arms:
        for line in _lines(arm, language):
            typer.echo(line)


def _rows(arm: ProfileArm, words: Mapping[str, str]) -> Iterator[Sequence[str]]:
    for stage, found in (arm.seen.stages if arm.seen else {}).items():
        checked = arm.checked.get(stage)
        yield (
            arm.stack.name,
            words[stage],
            _ms(found.pass_s),
            f"{found.messages:.0f}",
            _ms(found.message_s),
            share(found.share),
            _waiting(found, words),
            _ms(found.other_s),
            "-" if checked is None else _ms(checked.estimated_s),
            "-" if checked is None or checked.ratio is None else f"{checked.ratio:.2f}",
        )


def _waiting(found: StageProfiled, words: Mapping[str, str]) -> str:
    return words["unknown"] if found.waiting_s is None else _ms(found.waiting_s)


def _lines(arm: ProfileArm, language: Language) -> Iterator[str]:
    """Yield what is said of a stack below the table."""
    words, named = CATALOGUES[language], {"stack": arm.stack.name}
    if arm.reason:
        yield words["reason"].format(reason=spoken(arm.reason, language), **named)
    elif arm.seen is None:
        yield words["not yet"].format(state=spoken(arm.state, language), **named)
    elif not arm.seen.stages:
        yield words["no pass"].format(**named)
    if arm.seen is not None:
        yield from _beside(arm.seen, words, named)
    for trace in arm.traces:
        size = f"{trace.size_bytes / MIB:.1f}"
        yield words["trace"].format(name=trace.name, size=size, digest=trace.digest, **named)


def _beside(seen: ProfileSeen, words: Mapping[str, str], named: Mapping[str, str]) -> Iterator[str]:
    for each in seen.pipeline:
        yield words["pipeline"].format(
            rank=each.pipeline_rank, stage=words[each.stage], seconds=_ms(each.compute_s), **named
        )
    if seen.busiest:
        busy = seen.busiest[:BUSIEST_SHOWN]
        names = ", ".join(f"{each.name} {_ms(each.seconds)}" for each in busy)
        yield words["busiest"].format(names=names, **named)
    if seen.left_out:
        yield words["left out"].format(names=", ".join(seen.left_out), **named)


def _ms(seconds: float) -> str:
    return f"{seconds * MILLISECONDS_PER_SECOND:.3g} ms"
