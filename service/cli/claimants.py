"""Why nobody takes what was asked for: one sentence, with what to do about it."""

from service.cli.answers.words import Language
from service.cli.claimant_words import CATALOGUES
from service.domain.claimant import Obstacle
from service.formats.claimants import ClaimantRead, ClaimantsRead

# As many runners as are named one by one.
NAMED = 5


def nobody_takes(found: ClaimantsRead, language: Language = Language.EN) -> str | None:
    """Return why no runner takes a session's launches and what to do; None where one will."""
    if not found.waits or any(each.obstacle is None for each in found.runners):
        return None
    words = CATALOGUES[language]
    there = [each for each in found.runners if each.obstacle is not Obstacle.HOST]
    if not there:
        key = "nobody" if found.host is None else "nobody there"
        return words[key].format(pool=found.pool, host=found.host)
    told = [_told(each, found, language) for each in there[:NAMED]]
    if (more := len(there) - NAMED) > 0:
        told.append(words["more"].format(count=more))
    return words["none takes it"].format(told=words["; "].join(told))


def _told(each: ClaimantRead, found: ClaimantsRead, language: Language) -> str:
    """Return what keeps one runner, and what to do."""
    words = CATALOGUES[language]
    keeps = words[str(each.obstacle)].format(
        runner=each.runner,
        has=each.cards,
        cards=found.cards,
        chips=words[", "].join(each.chips),
        chip=found.chip,
        window=each.window,
        seen=f"{each.seen_at:%Y-%m-%d %H:%M} UTC",
    )
    return words["runner"].format(runner=each.runner, host=each.host, keeps=keeps)
