"""The words of notifications in both languages: one catalogue, with equal keys."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from service.formats.outcome_words import under
from service.formats.reasons import in_chinese

ENGLISH = MappingProxyType(
    {
        "incident opened": "Kunline: incident opened: {title}",
        "incident answered": "Kunline: {triage}: {title}",
        "incident fixed": "Kunline: verified fixed: {title}",
        "verdict confirm": "Kunline: {outcome}: {candidate} against {baseline}",
        "verdict night": "Kunline: night of {plan}: {told}",
        "night ended": "ended, not judged yet",
        "test": "Kunline: test of the webhook {name}",
        "stacks": "{baseline} → {candidate}",
        "cells": "{cells} cells; most of all {metric} of {cell}: {change}",
        "interval": " ({low} to {high})",
        "host": "on host {host}",
        "by": "by {who}: {why}",
        "owner": "owner: {owner}",
        "due": "due: {due}",
        "fixed": "{candidate} is back inside the baseline in every metric listed",
        "cost": "{launches} launches, {hours} card-hours",
        "no cells": "nothing was judged",
        "creeping": "crept beyond the tolerance in small steps: {creeping}",
        "comma": ", ",
        "test text": "If you read this, notifications arrive.",
        "triage open": "open",
        "triage fix": "to be fixed",
        "triage accept": "accepted",
        "triage noise": "noise",
        "triage host": "the host",
        **under("outcome ", "en"),
    }
)

CHINESE = MappingProxyType(
    {
        "incident opened": "Kunline：新事件：{title}",
        "incident answered": "Kunline：已处置为“{triage}”：{title}",
        "incident fixed": "Kunline：已验证修复：{title}",
        "verdict confirm": "Kunline：{outcome}：{candidate} 对比 {baseline}",
        "verdict night": "Kunline：{plan} 夜间测量：{told}",
        "night ended": "已结束，尚未判定",
        "test": "Kunline：通知地址 {name} 的测试消息",
        "stacks": "{baseline} → {candidate}",
        "cells": "涉及 {cells} 个单元；变化最大的是 {cell} 的 {metric}：{change}",
        "interval": "（区间 {low} 至 {high}）",
        "host": "主机：{host}",
        "by": "{who}：{why}",
        "owner": "负责人：{owner}",
        "due": "截止日期：{due}",
        "fixed": "{candidate} 的全部所列指标均已回到基线范围内",
        "cost": "启动 {launches} 次，{hours} 卡时",
        "no cells": "没有可判定的单元",
        "creeping": "由多次小幅退化累计超出容忍度的单元：{creeping}",
        "comma": "，",
        "test text": "收到本消息即表示通知可以送达。",
        "triage open": "待处置",
        "triage fix": "待修复",
        "triage accept": "接受",
        "triage noise": "噪声",
        "triage host": "主机问题",
        **under("outcome ", "zh"),
    }
)

WORDS: Mapping[str, Mapping[str, str]] = {"en": ENGLISH, "zh": CHINESE}
# Facts that are sentences: of the service, or of people, which stay as they are.
SENTENCES = ("title", "why", "reason")
Facts = Mapping[str, Any]


def title(kind: str, facts: Facts, language: str) -> str:
    """Return the first line of a notification."""
    words, facts = WORDS[language], _spoken(facts, language)
    match kind:
        case "verdict" if facts.get("noun") == "confirm":
            outcome = words[f"outcome {facts['outcome']}"]
            return words["verdict confirm"].format_map({**facts, "outcome": outcome})
        case "verdict":
            return words["verdict night"].format(plan=facts["plan"], told=_told(facts, words))
        case "incident answered":
            triage = words[f"triage {facts['triage']}"]
            return words[kind].format_map({**facts, "triage": triage})
        case _:
            return words[kind].format_map(facts)


def text(kind: str, facts: Facts, language: str) -> str:
    """Return the lines below the title of a notification."""
    words, facts = WORDS[language], _spoken(facts, language)
    if kind == "test":
        return words["test text"]
    lines = [
        *_about(facts, words),
        *_strongest(facts, words),
        *_people(facts, words),
        *_verdict(facts, words),
    ]
    if kind == "incident fixed":
        lines.append(words["fixed"].format(candidate=facts["verified"]))
    return "\n".join(lines)


def _spoken(facts: Facts, language: str) -> Facts:
    """Return facts whose sentences are in the language, as far as they are the service's own."""
    if language != "zh":
        return facts
    said = {name: in_chinese(str(facts[name])) for name in SENTENCES if facts.get(name)}
    return {**facts, **said}


def _about(facts: Facts, words: Mapping[str, str]) -> list[str]:
    named = facts.get("baseline") and facts.get("candidate")
    stacks = [words["stacks"].format_map(facts)] if named else []
    host = [words["host"].format_map(facts)] if facts.get("host") else []
    return [*stacks, *host]


def _strongest(facts: Facts, words: Mapping[str, str]) -> list[str]:
    if facts.get("metric") is None:
        return []
    line = words["cells"].format_map({**facts, "change": _percent(facts["change"])})
    if facts.get("low") is None or facts.get("high") is None:
        return [line]
    bounds = {"low": _percent(facts["low"]), "high": _percent(facts["high"])}
    return [line + words["interval"].format_map(bounds)]


def _people(facts: Facts, words: Mapping[str, str]) -> list[str]:
    said = [words["by"].format_map(facts)] if facts.get("why") else []
    owner = [words["owner"].format_map(facts)] if facts.get("owner") else []
    due = [words["due"].format_map(facts)] if facts.get("due") else []
    return [*said, *owner, *due]


def _verdict(facts: Facts, words: Mapping[str, str]) -> list[str]:
    reason = [str(facts["reason"])] if facts.get("reason") else []
    cost = []
    if facts.get("launches"):
        hours = f"{facts['card_s'] / 3600:.1f}"
        cost = [words["cost"].format(launches=facts["launches"], hours=hours)]
    creeping = [words["creeping"].format_map(facts)] if facts.get("creeping") else []
    return [*reason, *cost, *creeping]


def _told(facts: Facts, words: Mapping[str, str]) -> str:
    """Return how many cells a night said what of, the worst first."""
    if "outcomes" not in facts:
        return words["night ended"]
    outcomes: Mapping[str, int] = facts["outcomes"]
    known = [name.removeprefix("outcome ") for name in words if name.startswith("outcome ")]
    found = [f"{words[f'outcome {name}']} {outcomes[name]}" for name in known if name in outcomes]
    return words["comma"].join(found) if found else words["no cells"]


def _percent(ratio: float) -> str:
    return f"{100 * ratio:+.1f} %"
