"""The words of an attribution in both languages: one catalogue, with equal keys.

What servers and stacks said (settings, findings) is shown as it is.
"""

from collections.abc import Mapping
from types import MappingProxyType

from service.cli.answers.words import Language
from service.cli.lines import percent
from service.formats.outcome_words import under
from service.formats.verdicts import VerdictRead

ENGLISH = MappingProxyType(
    {
        "headline": "{bad} against {good}, plan {plan}: {outcome}",
        "nothing": "Nothing regressed, so there is nothing to attribute.",
        "explained": "the servers settled differently: {each}",
        "followed": "followed: {metric} of {title}, {size}",
        "announced": "{count} steps between the stacks: at most {combos} combos for a single "
        "culprit, more for an interaction, each of {launches} launches a stack",
        "measured": "{stack}: {level}",
        "steps": "{count} steps between the stacks, {combos} combos at most for a single culprit",
        "held": "of the host, moved only with a person's yes (--host-steps): {steps}",
        "with": " with ",
        "part": "{name} {good} → {bad}",
        "(absent)": "(absent)",
        "comma": ", ",
        "semicolon": "; ",
        "combo": "with {parts}: {level}, {size}, session {session}",
        "combo none": "with none of them: {level}, {size}, session {session}",
        "before": ", measured before",
        "size": "{center} ({low} to {high})",
        "stopped": "stopped: {why}",
        "spent": "{launches} launches and {hours:.2f} card-hours spent",
        "state searching": "searching since {at}, last heard of {changed}",
        "state ended": "ended {changed}",
        "state stopped": "stopped {changed}",
        **under("outcome ", "en"),
        "outcome missing": "not measured yet",
        "level as the good stack": "as the good stack",
        "level as the bad stack": "as the bad stack",
        "level between the two": "between the two",
        "level untold": "untold",
        "level broken": "broken",
        "cause single": "single: {steps}",
        "cause interaction": "interaction: {steps}",
        "cause several": "several: {steps}",
        "cause inseparable": "inseparable: {steps}",
        "cause held": "held: {steps}",
        "cause untold": "untold: {steps}",
        "reason single": "this step alone, put into the good stack, makes it as slow as the bad "
        "one",
        "reason interaction": "none of these steps alone makes the good stack slow, all of them do",
        "reason several": "more than one of these steps has a part in it: some combo lies between",
        "reason inseparable": "no combo that tells these steps apart can be installed",
        "reason held": "it is among the steps of the host, which move only with a person's yes",
        "reason untold": "a combo could not be told from either stack: more launches would tell",
    }
)

CHINESE = MappingProxyType(
    {
        "headline": "{bad} 对比 {good}，计划 {plan}：{outcome}",
        "nothing": "没有退化，无需归因。",
        "explained": "两边服务自行解析的参数不同：{each}",
        "followed": "跟踪指标：{title} 的 {metric}，{size}",
        "announced": "两个版本组合之间有 {count} 处不同：单一原因最多需要测 {combos} 个组合，"
        "相互作用则更多，每个版本组合各启动 {launches} 次",
        "measured": "{stack}：{level}",
        "steps": "两个版本组合之间有 {count} 处不同，单一原因最多需要测 {combos} 个组合",
        "held": "主机级改动，需人工同意（--host-steps）才会移动：{steps}",
        "with": " 连同 ",
        "part": "{name}：{good} → {bad}",
        "(absent)": "（无）",
        "comma": "、",
        "semicolon": "；",
        "combo": "换上 {parts}：{level}，{size}，会话 {session}",
        "combo none": "都不换：{level}，{size}，会话 {session}",
        "before": "，此前已测",
        "size": "{center}（{low} 至 {high}）",
        "stopped": "已停止：{why}",
        "spent": "已用 {launches} 次启动、{hours:.2f} 卡时",
        "state searching": "{at} 开始归因，最近一次更新 {changed}",
        "state ended": "{changed} 完成",
        "state stopped": "{changed} 停止",
        **under("outcome ", "zh"),
        "outcome missing": "尚未测量",
        "level as the good stack": "与好的版本组合相同",
        "level as the bad stack": "与坏的版本组合相同",
        "level between the two": "介于两者之间",
        "level untold": "无法分辨",
        "level broken": "故障",
        "cause single": "单一原因：{steps}",
        "cause interaction": "相互作用：{steps}",
        "cause several": "多个原因：{steps}",
        "cause inseparable": "无法拆分：{steps}",
        "cause held": "主机级改动：{steps}",
        "cause untold": "无法分辨：{steps}",
        "reason single": "只把这一处换进好的版本组合，就和坏的一样慢",
        "reason interaction": "单独换上任何一处都不慢，全部换上才慢",
        "reason several": "不止一处有影响：有的组合介于两者之间",
        "reason inseparable": "能把它们分开的组合都无法安装",
        "reason held": "原因在主机级改动之中，这些改动需人工同意才会移动",
        "reason untold": "有的组合无法与两端分辨：需要更多次启动",
    }
)

CATALOGUES: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {Language.EN: ENGLISH, Language.ZH: CHINESE}
)


def sized(verdict: VerdictRead, language: Language = Language.EN) -> str:
    """Return how much worse a verdict says it is, with its interval."""
    low, center, high = (
        percent(each or 0.0) for each in (verdict.low, verdict.worsening, verdict.high)
    )
    return CATALOGUES[language]["size"].format(low=low, center=center, high=high)
