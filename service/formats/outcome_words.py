"""The words for an outcome in both languages: the one catalogue of them, with equal keys.

The keys are those of domain/verdict.py, which is not imported: every command has words, and not
every command judges.
"""

from collections.abc import Mapping
from types import MappingProxyType

ENGLISH = MappingProxyType(
    {
        "regressed": "regressed",
        "broken": "broken",
        "invalid": "invalid",
        "missing": "missing",
        "not comparable": "not comparable",
        "inconclusive": "inconclusive",
        "insufficient baseline": "insufficient baseline",
        "improved": "improved",
        "unchanged": "unchanged",
    }
)
CHINESE = MappingProxyType(
    {
        "regressed": "退化",
        "broken": "故障",
        "invalid": "无效",
        "missing": "缺失",
        "not comparable": "不可比",
        "inconclusive": "无法判定",
        "insufficient baseline": "基线不足",
        "improved": "改善",
        "unchanged": "不变",
    }
)
OUTCOMES: Mapping[str, Mapping[str, str]] = MappingProxyType({"en": ENGLISH, "zh": CHINESE})


def under(prefix: str, language: str) -> dict[str, str]:
    """Return the words as another catalogue has them, each key behind a prefix."""
    return {f"{prefix}{outcome}": word for outcome, word in OUTCOMES[language].items()}
