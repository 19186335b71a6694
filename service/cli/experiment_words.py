"""The words of an experiment in both languages: one catalogue, with equal keys."""

from collections.abc import Mapping
from types import MappingProxyType

from service.cli.answers.words import Language

ENGLISH = MappingProxyType(
    {
        "take": "take {parameter}={value}: {why}",
        "gain": "take {parameter}={value}, {metric} better by {by} ({low} to {high}): {why}",
        "costs": "it costs: {cells} get worse with it",
        "of": "{metric} of {cell}",
        "comma": ", ",
        "spent": "{count} values in turn, {hours} card-hours; intervals at {confidence}, so that "
        "all values together keep the policy's",
        "cached": "{count} values in turn, measured before; intervals at {confidence}, so that "
        "all values together keep the policy's",
    }
)
CHINESE = MappingProxyType(
    {
        "take": "建议取 {parameter}={value}：{why}",
        "gain": "建议取 {parameter}={value}，{metric} 改善 {by}（{low} 至 {high}）：{why}",
        "costs": "代价：以下指标变差：{cells}",
        "of": "{cell} 的 {metric}",
        "comma": "、",
        "spent": "{count} 个取值交替测量，{hours} 卡时；每个区间的置信度为 {confidence}，"
        "全部取值合计保持策略规定的置信度",
        "cached": "{count} 个取值交替测量，此前已测；每个区间的置信度为 {confidence}，"
        "全部取值合计保持策略规定的置信度",
    }
)
CATALOGUES: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {Language.EN: ENGLISH, Language.ZH: CHINESE}
)
