"""The words of a table of verdicts in both languages: one catalogue, with equal keys."""

from collections.abc import Mapping
from types import MappingProxyType

from service.cli.answers.words import Language
from service.formats.outcome_words import under
from service.formats.reasons import in_chinese

ENGLISH = MappingProxyType(
    {
        "cell": "cell",
        "metric": "metric",
        "baseline": "baseline",
        "candidate": "candidate",
        "worse by": "worse by",
        "interval": "interval",
        "verdict": "verdict",
        "would have seen": "would have seen",
        "bounds": "{low} to {high}",
        "seen": "from {effect} on",
        "differs": "{field} differs",
        "semicolon": "; ",
        "unjudged": ": {why}",
        "sentence": " {metric}: {before} → {after}, {by} worse ({bounds}), would have seen {seen}",
        "note": "note: {said}",
        **under("outcome ", "en"),
    }
)
CHINESE = MappingProxyType(
    {
        "cell": "单元",
        "metric": "指标",
        "baseline": "基线",
        "candidate": "候选",
        "worse by": "劣化",
        "interval": "区间",
        "verdict": "结论",
        "would have seen": "最小可检出变化",
        "bounds": "{low} 至 {high}",
        "seen": "{effect} 起",
        "differs": "{field} 不同",
        "semicolon": "；",
        "unjudged": "：{why}",
        "sentence": " {metric}：{before} → {after}，劣化 {by}（{bounds}），最小可检出变化 {seen}",
        "note": "说明：{said}",
        **under("outcome ", "zh"),
    }
)
CATALOGUES: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {Language.EN: ENGLISH, Language.ZH: CHINESE}
)


def spoken(reason: str, language: Language) -> str:
    """Return a reason of the service in a language; what people and tools wrote stays as it is."""
    return in_chinese(reason) if language is Language.ZH else reason
