"""The words of a comparison as lines, in both languages: one catalogue, with equal keys."""

from collections.abc import Mapping
from types import MappingProxyType

from service.cli.answers.words import Language
from service.formats.outcome_words import under

ENGLISH = MappingProxyType(
    {
        **under("outcome ", "en"),
        "judged": "{metric} {outcome}: {before} → {after}, worse by {by} (interval {low} to "
        "{high}, tolerance {tolerance})",
        "seen": "; a worsening from {effect} on would be seen",
        "unjudged": "{metrics} {outcome}: {why}",
        "unjudged for": "{metrics} {outcome}:",
        "more of the baseline": "more results of the baseline would do, or --min-repeats to ask "
        "for fewer",
        "differs": "{field}: baseline {baseline}, candidate {candidate}",
        "within": "{field} within the {side}: {baseline}, {candidate}",
        "in line": "{value} in line {line} of {file}",
        "baseline": "baseline",
        "candidate": "candidate",
        "(absent)": "(absent)",
        "incomplete": "condition incomplete: the files do not tell enough to know whether they are "
        "comparable",
        "neither tells": "neither side tells {fields}",
        "baseline tells": "only the baseline tells {fields}",
        "candidate tells": "only the candidate tells {fields}",
        "gates open": "they leave open whether some gates hold (gates): kunline read names these",
        "add": "if both sides were alike in all of this, add {options}",
        "add one": "for one of them alone: --assume-same FIELD, or FIELD=VALUE, which is held to "
        "the files",
        "assumed": "assumed of both sides: {fields}",
        "assumed alike": "assumed to be the same, whatever it is: {fields}",
        "assumed gates": "assumed to hold, because no file settles it: {fields}",
        "note": "note: {said}",
    }
)
CHINESE = MappingProxyType(
    {
        **under("outcome ", "zh"),
        "judged": "{metric} {outcome}：{before} → {after}，劣化 {by}（区间 {low} 至 {high}，"
        "容忍度 {tolerance}）",
        "seen": "；{effect} 及以上的劣化可被检出",
        "unjudged": "{metrics} {outcome}：{why}",
        "unjudged for": "{metrics} {outcome}：",
        "more of the baseline": "可补充基线的结果，或用 --min-repeats 降低要求",
        "differs": "{field}：基线 {baseline}，候选 {candidate}",
        "within": "{side}内部的 {field} 不一致：{baseline}，{candidate}",
        "in line": "{file} 第 {line} 行为 {value}",
        "baseline": "基线",
        "candidate": "候选",
        "(absent)": "（无）",
        "incomplete": "测试条件不完整：文件给出的信息不足以判断两侧是否可比",
        "neither tells": "两侧都没有给出 {fields}",
        "baseline tells": "只有基线给出 {fields}",
        "candidate tells": "只有候选给出 {fields}",
        "gates open": "有些有效性检查（gates）是否通过无法从文件得知：kunline read 会列出",
        "add": "如果两侧在以上各项均相同，请加上 {options}",
        "add one": "只针对其中一项：--assume-same FIELD，或 FIELD=VALUE，后者会与文件核对",
        "assumed": "假定两侧均为：{fields}",
        "assumed alike": "假定两侧相同（不论取何值）：{fields}",
        "assumed gates": "文件无法确认、假定通过的检查：{fields}",
        "note": "说明：{said}",
    }
)
CATALOGUES: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {Language.EN: ENGLISH, Language.ZH: CHINESE}
)
