"""The words of a gate's answer in both languages: one catalogue, with equal keys.

What the service says of why is recognised and said anew (service/formats/reasons.py); findings,
remedies and what people wrote are shown as they are.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from service.formats.outcome_words import under


class Language(StrEnum):
    """The languages that an answer is written in."""

    EN = "en"
    ZH = "zh"


_EN = {
    "title": "Kunline gate: {outcome}",
    # What a gate's outcome is called, after domain/verdict.py.
    **under("outcome.", "en"),
    # The one sentence that answers the question.
    "headline.regressed": (
        "The candidate is worse in {count} of {of} gating cells; most of all {metric} of {cell}, "
        "by {worsening} (interval {low} to {high}, tolerance {tolerance})."
    ),
    "headline.regressed alone": "The candidate is worse in {count} of {of} gating cells.",
    "headline.broken": "The candidate breaks at the layer {layer} in {count} of {of} gating cells.",
    "headline.broken baseline": (
        "The baseline breaks at the layer {layer}, so {count} of {of} gating cells are not judged."
    ),
    "headline.unbroken": "The stack broke in {count} of {of} gating cells.",
    "headline.invalid": "{count} of {of} gating cells were measured, but no number may be used.",
    "headline.missing": "{count} of {of} gating cells were not measured.",
    "headline.not comparable": (
        "{count} of {of} gating cells are refused: the two sides were not measured alike."
    ),
    "headline.inconclusive": (
        "No worsening was proved, and none was ruled out: {count} of {of} gating cells are "
        "inconclusive, and a worsening below {effect} could have gone unseen."
    ),
    "headline.unknown effect": (
        "No worsening was proved, and none was ruled out: {count} of {of} gating cells are "
        "inconclusive."
    ),
    "headline.nothing counted": (
        "Nothing is counted: every cell only informs, is waived, or has an open incident."
    ),
    "headline.insufficient baseline": (
        "{count} of {of} gating cells have too few measurements of the baseline to judge by."
    ),
    "headline.improved": (
        "No gating cell is worse, and {count} of {of} are better. Look for failures, short output "
        "or cache hits before believing it."
    ),
    "headline.unchanged": (
        "No gating cell is worse. From {effect} on, a worsening would have been seen."
    ),
    "headline.unchanged alone": "No gating cell is worse.",
    "headline.cancelled": "The gate was cancelled before it was done.",
    "uncounted": "Worse and not counted, for the reasons listed: {count}.",
    "passes": "It does not block: the plan lets an inconclusive gate pass.",
    "blocks": "It blocks: the plan asks for more measurements before this may pass.",
    # Facts below it.
    "fact.stacks": "{candidate} against {baseline}",
    "fact.plan": "plan {plan}",
    "fact.base": "baseline: {found}",
    "fact.host": "on host {host}",
    "fact.local": "measured here, without a service",
    "fact.time": "card time: {spent} of {planned} planned",
    "fact.budget": "card time: {spent} of {planned} planned, budget {budget}",
    "fact.saved": "{time}, {saved} saved by stopping early",
    "fact.unbegun": "{time}, {unbegun} of it not begun",
    "fact.exit": "exit code {code}",
    "fact.metrics": "Positive is worse for every metric.",
    # Sections.
    "section.moved": "What moved",
    "section.unjudged": "What was not judged",
    "section.unclear": "What could not be told",
    "section.uncounted": "What is shown and not counted",
    "section.unmoved": "What did not move",
    "section.measured": "How it was measured",
    "section.components": "What differs between the stacks",
    "section.settled": "What the servers settled differently by themselves",
    "section.reproduce": "Do it again here",
    "section.notes": "Notes",
    "section.links": "Links",
    "column.cell": "cell",
    "column.metric": "metric",
    "column.baseline": "baseline",
    "column.candidate": "candidate",
    "column.worse by": "worse by",
    "column.interval": "interval",
    "column.tolerance": "tolerance",
    "column.verdict": "verdict",
    "column.would see": "would have seen",
    "column.why": "why",
    "column.remedy": "what to do",
    "column.uncounted": "why it is not counted",
    "column.component": "component",
    "column.layer": "layer",
    "column.scope": "what must restart",
    "column.field": "field",
    "column.launches": "launches",
    "column.control": "the baseline's values",
    "column.stopped": "stopped early",
    # What stands in them.
    "interval": "{low} to {high}",
    "from": "from {effect} on",
    "unknown": "unknown",
    "launches": "{candidate} and {baseline} of {planned} each",
    "control.interleaved": "measured in turn with the candidate",
    "control.cached": "cached: {launches} launches of {sessions} sessions, the oldest of {oldest}",
    "control.none": "none",
    "stop.certain": "the verdict was certain",
    "stop.canary": "the canary cell stopped the rest",
    "stop.broken": "a stack broke",
    "stop.budget": "the card time was used up",
    "stop.cancelled": "cancelled",
    "informs": "it only informs",
    "known": "open incident of the baseline: {title}",
    "waived": "waived by {who} until {until}: {reason}",
    "broke.baseline": "the baseline broke at {layer}: {finding}",
    "broke.candidate": "the candidate broke at {layer}: {finding}",
    "differs": "{field}: baseline {baseline}, candidate {candidate}",
    "arguments": "server argument {field}",
    "recorded": "recorded only",
    "scope.process": "the process",
    "scope.container": "the container",
    "scope.host": "the host",
    "whole": "the whole gate",
    "of": "{of}:",
    "link.gate": "this gate",
    "link.session": "its session",
    "link.baseline": "the baseline",
    "link.candidate": "the candidate",
    "override": "{component}: asked {asked}, measured {version}",
    "override.pinned": "{component}: asked {asked}, pinned as {version}, not measured",
    "cut.rows": "{count} more rows are left out here; the answer in JSON has them all.",
    "cut.sections": "Left out for length: {titles}. The answer in JSON has it all.",
    "more": "and {count} more, which are not shown here",
    # A verdict as a sentence, where there is no table.
    "verdict": (
        "{metric} {outcome}: worse by {worse} (interval {low} to {high}, tolerance {tolerance})"
    ),
    "verdict.reason": "{metric} {outcome}: {reason}",
    "verdict.seen": "{verdict}; from {effect} on, a worsening would have been seen",
    "verdict.of": "{cell}: {verdict}",
    "cells": "{count} cells: {verdict}",
    "gate": "the gate",
    # The comment and the check.
    "footer": "Written by `kunline gate` for commit {commit}; a new run edits this comment.",
    "footer.no commit": "Written by `kunline gate`; a new run edits this comment.",
    "replaced": "A newer answer stands in [another comment]({url}).",
    "check": "{outcome}: {headline}",
}

_ZH = {
    "title": "Kunline 门禁：{outcome}",
    **under("outcome.", "zh"),
    "headline.regressed": (
        "候选在 {of} 个门禁单元中的 {count} 个变差；最严重的是 {cell} 的 {metric}，"
        "劣化 {worsening}（区间 {low} 至 {high}，容忍度 {tolerance}）。"
    ),
    "headline.regressed alone": "候选在 {of} 个门禁单元中的 {count} 个变差。",
    "headline.broken": "候选在 {of} 个门禁单元中的 {count} 个停在 {layer} 层，无法运行。",
    "headline.broken baseline": (
        "基线停在 {layer} 层，无法运行，{of} 个门禁单元中有 {count} 个未作判定。"
    ),
    "headline.unbroken": "{of} 个门禁单元中有 {count} 个的版本组合出现故障。",
    "headline.invalid": "{of} 个门禁单元中有 {count} 个已测量，但数值不可用。",
    "headline.missing": "{of} 个门禁单元中有 {count} 个没有测到。",
    "headline.not comparable": ("{of} 个门禁单元中有 {count} 个被拒绝比较：两侧的测量方式不同。"),
    "headline.inconclusive": (
        "既没有证实变差，也没有排除变差：{of} 个门禁单元中有 {count} 个无法判定，"
        "小于 {effect} 的劣化可能没有被发现。"
    ),
    "headline.unknown effect": (
        "既没有证实变差，也没有排除变差：{of} 个门禁单元中有 {count} 个无法判定。"
    ),
    "headline.nothing counted": (
        "没有任何结论计入：所有单元都仅供参考、已豁免或基线有未关闭的事件。"
    ),
    "headline.insufficient baseline": (
        "{of} 个门禁单元中有 {count} 个的基线测量次数太少，无法据此判定。"
    ),
    "headline.improved": (
        "没有门禁单元变差，{of} 个中有 {count} 个变好。"
        "请先排除请求失败、输出变短或缓存命中，再采信。"
    ),
    "headline.unchanged": "没有门禁单元变差。{effect} 及以上的劣化本可以被发现。",
    "headline.unchanged alone": "没有门禁单元变差。",
    "headline.cancelled": "门禁在完成之前被取消。",
    "uncounted": "另有 {count} 条变差的结论不计入，原因已列出。",
    "passes": "不阻断：计划允许无法判定的门禁通过。",
    "blocks": "阻断：计划要求补充测量后才能通过。",
    "fact.stacks": "{candidate} 对照 {baseline}",
    "fact.plan": "计划 {plan}",
    "fact.base": "基线：{found}",
    "fact.host": "主机 {host}",
    "fact.local": "在本机测量，未连接服务",
    "fact.time": "卡时：{spent}，计划 {planned}",
    "fact.budget": "卡时：{spent}，计划 {planned}，预算 {budget}",
    "fact.saved": "{time}，提前停止节省 {saved}",
    "fact.unbegun": "{time}，其中 {unbegun} 未开始",
    "fact.exit": "退出码 {code}",
    "fact.metrics": "对所有指标，正值都表示变差。",
    "section.moved": "有变化的指标",
    "section.unjudged": "未作判定的单元",
    "section.unclear": "无法判定的指标",
    "section.uncounted": "仅展示、不计入的结论",
    "section.unmoved": "没有变化的指标",
    "section.measured": "测量方式",
    "section.components": "两个版本组合的差异",
    "section.settled": "服务端自行决定的不同参数",
    "section.reproduce": "在本地复现",
    "section.notes": "说明",
    "section.links": "链接",
    "column.cell": "单元",
    "column.metric": "指标",
    "column.baseline": "基线",
    "column.candidate": "候选",
    "column.worse by": "劣化",
    "column.interval": "区间",
    "column.tolerance": "容忍度",
    "column.verdict": "结论",
    "column.would see": "可检出",
    "column.why": "原因",
    "column.remedy": "处理办法",
    "column.uncounted": "不计入的原因",
    "column.component": "组件",
    "column.layer": "层",
    "column.scope": "需要重启",
    "column.field": "字段",
    "column.launches": "启动次数",
    "column.control": "基线数值来源",
    "column.stopped": "提前停止",
    "interval": "{low} 至 {high}",
    "from": "{effect} 起",
    "unknown": "未知",
    "launches": "候选 {candidate}、基线 {baseline}，各计划 {planned}",
    "control.interleaved": "与候选交替测量",
    "control.cached": "缓存：{sessions} 次会话的 {launches} 次启动，最早为 {oldest}",
    "control.none": "无",
    "stop.certain": "结论已经确定",
    "stop.canary": "探路单元叫停了其余单元",
    "stop.broken": "版本组合故障",
    "stop.budget": "卡时用尽",
    "stop.cancelled": "已取消",
    "informs": "仅供参考",
    "known": "基线有未关闭的事件：{title}",
    "waived": "{who} 豁免至 {until}：{reason}",
    "broke.baseline": "基线停在 {layer} 层：{finding}",
    "broke.candidate": "候选停在 {layer} 层：{finding}",
    "differs": "{field}：基线 {baseline}，候选 {candidate}",
    "arguments": "服务参数 {field}",
    "recorded": "仅记录",
    "scope.process": "进程",
    "scope.container": "容器",
    "scope.host": "主机",
    "whole": "整个门禁",
    "of": "{of}：",
    "link.gate": "本次门禁",
    "link.session": "测量会话",
    "link.baseline": "基线",
    "link.candidate": "候选",
    "override": "{component}：要求 {asked}，实测 {version}",
    "override.pinned": "{component}：要求 {asked}，锁定为 {version}，未测量",
    "cut.rows": "此处省略 {count} 行；JSON 答案中有全部内容。",
    "cut.sections": "因篇幅省略：{titles}。JSON 答案中有全部内容。",
    "more": "另有 {count} 条未在此显示",
    "verdict": "{metric} {outcome}：劣化 {worse}（区间 {low} 至 {high}，容忍度 {tolerance}）",
    "verdict.reason": "{metric} {outcome}：{reason}",
    "verdict.seen": "{verdict}；{effect} 及以上的劣化本可以被发现",
    "verdict.of": "{cell}：{verdict}",
    "cells": "{count} 个单元：{verdict}",
    "gate": "门禁",
    "footer": "由 `kunline gate` 针对提交 {commit} 写入；再次运行会更新此评论。",
    "footer.no commit": "由 `kunline gate` 写入；再次运行会更新此评论。",
    "replaced": "较新的答案在[另一条评论]({url})中。",
    "check": "{outcome}：{headline}",
}

WORDS: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {Language.EN: MappingProxyType(_EN), Language.ZH: MappingProxyType(_ZH)}
)


def say(language: Language, key: str, **filled: object) -> str:
    """Return a word or sentence of the catalogue with its names filled in."""
    return WORDS[language][key].format(**filled)
