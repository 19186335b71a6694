"""`kunline baseline rule …`: let the first accepted run of a channel become its baseline."""

from typing import Annotated
from uuid import UUID

import typer
from pydantic import ValidationError

from service.cli.answers.words import Language
from service.cli.baseline_page import print_rules
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.language import Lang
from service.cli.person import user_name
from service.formats.baselines import RuleOrder, RuleRead, UndoOrder

Why = Annotated[str, typer.Option(help="The reason, kept in the audit and with each pin.")]


def rule(
    channel: Annotated[str, typer.Argument(help="Release channel.")],
    stacks: Annotated[str, typer.Option(help="Which stacks, by a pattern of names: 'p800-*'.")],
    why: Why,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Give cells of a channel their first baseline by a rule: the first accepted run of stacks.

    Accepted is what may be judged, has as many repeats as a baseline needs, and lies in a cell
    without an open incident. A cell that was ever pinned in the channel is left alone.

    Example: kunline baseline rule release-2026.11 --stacks 'p800-*' --why "what we deliver"
    """
    try:
        order = RuleOrder(channel=channel, stacks=stacks, why=why, who=user_name())
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        raise typer.BadParameter(f"{wrong['loc'][0]}: {wrong['msg']}") from error
    with service(url, token, lang) as client:
        _tell((client.ask(RuleRead, "baselines/rules", body=order),), lang, json=json)


def rules(
    lang: Lang = Language.EN, url: Url = DEFAULT_URL, token: Token = None, *, json: AsJson = False
) -> None:
    """List the rules of channels, who made them and why, and how many cells they pinned.

    Example: kunline baseline rules
    """
    with service(url, token, lang) as client:
        _tell(tuple(client.ask_all(RuleRead, "baselines/rules")), lang, json=json)


def end_rule(
    rule_id: UUID,
    why: Why,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """End a rule; the baselines that it gave stay.

    Example: kunline baseline end-rule 6f1c… --why "the release is out"
    """
    with service(url, token, lang) as client:
        order = UndoOrder(why=why, who=user_name())
        found = client.ask(RuleRead, f"baselines/rules/{rule_id}/end", body=order)
    _tell((found,), lang, json=json)


def _tell(found: tuple[RuleRead, ...], lang: Language, *, json: bool) -> None:
    if json:
        typer.echo("[" + ",".join(each.model_dump_json() for each in found) + "]")
    else:
        print_rules(found, lang)
