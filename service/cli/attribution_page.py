"""An attribution as a person reads it: what differs, the combos as a tree, and what was found."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from service.cli.answers.words import Language
from service.cli.attribution_words import CATALOGUES, sized
from service.cli.verdict_words import spoken
from service.formats.attributions import (
    AttributionAnswer,
    AttributionRead,
    ComboRead,
    PartRead,
    StepRead,
)

# How far a combo stands below the one that was measured before it.
DEPTH = "   "

Words = Mapping[str, str]


def page(answer: AttributionAnswer, language: Language = Language.EN) -> str:
    """Return an answer as a person reads it."""
    words = CATALOGUES[language]
    lines = [
        words["headline"].format(
            bad=answer.bad,
            good=answer.good,
            plan=answer.plan,
            outcome=words[f"outcome {answer.outcome}"],
        ),
        *_known(answer, language),
    ]
    if answer.followed is None and not answer.stopped and answer.outcome != "missing":
        return "\n".join([*lines, words["nothing"]])
    lines += [*_tree(answer, language), *_found(answer, words)]
    if answer.stopped:
        lines.append(words["stopped"].format(why=spoken(answer.stopped, language)))
    return "\n".join(lines)


def stored_page(stored: AttributionRead, language: Language = Language.EN) -> str:
    """Return a stored attribution: its answer so far, how far it is, and what it cost."""
    words = CATALOGUES[language]
    state = words[f"state {stored.state}"].format(
        at=_moment(stored.started_at), changed=_moment(stored.changed_at)
    )
    spent = words["spent"].format(launches=stored.launches, hours=stored.card_s / 3600)
    return f"{page(stored.answer, language)}\n{state}{words['semicolon']}{spent}"


def _known(answer: AttributionAnswer, language: Language) -> list[str]:
    """Return what is known without any combo."""
    words, followed = CATALOGUES[language], answer.followed
    explained = dict.fromkeys((*answer.explained, *(followed.explained if followed else ())))
    lines = [words["explained"].format(each=spoken(each, language)) for each in explained]
    if followed:
        lines.insert(
            0,
            words["followed"].format(
                metric=followed.verdict.metric,
                title=followed.title,
                size=sized(followed.verdict, language),
            ),
        )
    moving = [step for step in answer.steps if not step.held]
    lines.append(words["steps"].format(count=len(moving), combos=answer.most_combos))
    if held := [step for step in answer.steps if step.held]:
        lines.append(words["held"].format(steps=_steps(held, words)))
    return lines


def _tree(answer: AttributionAnswer, language: Language) -> list[str]:
    """Return each combo under the steps that it was to tell apart, one level deeper a combo."""
    lines: list[str] = []
    comma = CATALOGUES[language]["comma"]
    for depth, combo in enumerate(answer.combos):
        indent = DEPTH * depth
        lines.append(f"{indent}{comma.join(combo.candidates)}")
        lines.append(f"{indent}└─ {_combo(combo, language)}")
    return ["", *lines, ""] if lines else []


def _combo(combo: ComboRead, language: Language) -> str:
    words = CATALOGUES[language]
    broken = spoken(combo.broken, language) if combo.broken else "-"
    told = words["combo" if combo.at_bad else "combo none"].format(
        parts=words["comma"].join(combo.at_bad),
        level=words[f"level {combo.level}"],
        size=sized(combo.verdict, language) if combo.verdict else broken,
        session=str(combo.session_id)[:8],
    )
    return told + (words["before"] if combo.cached else "")


def _found(answer: AttributionAnswer, words: Words) -> list[str]:
    if answer.cause is None:
        return []
    named = words[f"cause {answer.cause}"].format(steps=_steps(answer.found, words))
    return [named, f"  {words[f'reason {answer.cause}']}"]


def _steps(steps: Sequence[StepRead], words: Words) -> str:
    return words["semicolon"].join(
        words["with"].join(_part(part, words) for part in step.parts) for step in steps
    )


def _part(part: PartRead, words: Words) -> str:
    """Return one thing that differs, with what either stack pins of it, if it does."""
    good, bad = (words.get(each, each) for each in (part.good, part.bad))
    return words["part"].format(name=part.name, good=good, bad=bad)


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
