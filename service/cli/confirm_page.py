"""A confirm as a person reads it: what came of it, why, for how much, and cell by cell."""

from collections.abc import Mapping

from service.cli.answers.words import Language
from service.cli.columns import aligned
from service.cli.confirm_words import CATALOGUES
from service.cli.lines import percent, share
from service.cli.plain import plain
from service.cli.verdict_words import spoken
from service.domain.confirm import Ending, State
from service.formats.confirms import BudgetRead, ConfirmCell, ConfirmRead

SECONDS_PER_HOUR = 3600

Words = Mapping[str, str]


def confirm_page(found: ConfirmRead, language: Language = Language.EN) -> str:
    """Return a confirm in a language; what people and stacks said stays in their own words."""
    words = CATALOGUES[language]
    lines = [
        words["title"].format(id=found.id, word=word(found, words)),
        words["stacks"].format(
            baseline=found.baseline_stack_name,
            candidate=found.candidate_stack_name,
            host=found.host,
            direction=words[found.direction],
        ),
        *_why(found, language),
        *_design(found, words),
        words["cost"].format(
            launches=found.spent.launches,
            hours=hours(found.spent.card_s),
            most=found.planned.launches,
            most_hours=hours(found.planned.card_s),
        ),
        *([words["session"].format(id=found.session_id)] if found.session_id else []),
        *([words["incident"].format(id=found.incident_id)] if found.incident_id else []),
    ]
    return "\n".join(map(plain, lines)) + _cells(found, words)


def budget_page(found: BudgetRead, language: Language = Language.EN) -> str:
    """Return what confirms may cost in a language."""
    words = CATALOGUES[language]
    return "\n".join(
        [
            words["budget"].format(
                launches=found.night.launches,
                hours=hours(found.night.card_s),
                left=found.left.launches,
                left_hours=hours(found.left.card_s),
            ),
            words["each"].format(launches=found.each.launches, hours=hours(found.each.card_s)),
            words["automatic" if found.automatic else "by hand"],
        ]
    )


def word(found: ConfirmRead, words: Words) -> str:
    """Return the one word for a confirm: where it stands, or how it ended."""
    return words[f"state {found.state}" if found.outcome is None else found.outcome]


def hours(seconds: float) -> str:
    """Return card-seconds as card-hours for the eye."""
    return f"{seconds / SECONDS_PER_HOUR:.2f}"


def _why(found: ConfirmRead, language: Language) -> list[str]:
    """Return why it stands or ended so; what a look said has words of its own."""
    words = CATALOGUES[language]
    reason = words["why"].format(reason=spoken(found.reason, language))
    if found.ended_by is not Ending.LOOK:
        return [*([words[f"by {found.ended_by}"]] if found.ended_by else []), reason]
    said = bool(found.looks) and found.looks[-1].outcome is found.outcome
    return [words[f"look {found.outcome}"] if said else reason]


def _design(found: ConfirmRead, words: Words) -> list[str]:
    if not found.interleaved:
        return [words["crossed"]]
    if found.state is State.WAITING or not found.counts:
        return []
    counts = words["comma"].join(map(str, found.counts))
    told = {"counts": counts, "burn_in": found.burn_in, "confidence": share(found.confidence)}
    return [words["design"].format(**told)]


def _cells(found: ConfirmRead, words: Words) -> str:
    if not found.cells:
        return ""
    names = (
        "cell", "metric", "screen", "word", "size", "interval", "tolerance", "seen", "launches",
    )  # fmt: skip
    header = tuple(words[name] for name in names)
    return "\n\n" + aligned(header, [_row(each, words) for each in found.cells])


def _row(cell: ConfirmCell, words: Words) -> tuple[str, ...]:
    head = (cell.title, cell.metric, percent(cell.suspected))
    verdict = cell.verdict
    if verdict is None:
        return (*head, words["not yet"], "", "", "", "", "")
    launches = f"{cell.baseline_launches} + {cell.candidate_launches}"
    seen = verdict.smallest_detectable
    interval = (
        ("", "")
        if verdict.worsening is None or verdict.low is None or verdict.high is None
        else (percent(verdict.worsening), f"{percent(verdict.low)} … {percent(verdict.high)}")
    )
    return (
        *head,
        words[verdict.outcome],
        *interval,
        share(verdict.tolerance),
        "-" if seen is None else share(seen),
        launches,
    )
