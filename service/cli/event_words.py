"""The words of events in both languages: one catalogue, with equal keys."""

from collections.abc import Mapping
from types import MappingProxyType

from service.cli.answers.words import Language
from service.formats.outcome_words import under
from service.formats.reason_words import GROUPS_ZH

ENGLISH = MappingProxyType(
    {
        "none": "No event was seen in the last {days} days.",
        "none today": "No event was seen in the last day.",
        "older": "older ones: --cursor {cursor}",
        "suspect": "suspect: {count}, for the {direction}{size}, since {change}; seen with {seen}; "
        "{where}",
        "series": "{series} series of {cells} cells",
        "sum": "the sum of {trigger}",
        "worse": "worse",
        "better": "better",
        "size": ", by {size}",
        "change": "{before} → {after}",
        "host": "it is the host {host}",
        "hosts": "on {hosts}",
        "event": "event {id}: {said}",
        "triggered": "triggered by {trigger}, seen at {at}",
        "since": "first measured at the new level at {at}",
        "presumed": "not measured then, presumed: {names}{more}",
        "confirm": "confirm {id}: {word}",
        "runs": "from the runs {names}{more}",
        "more": " and {count} more",
        "cell": "cell",
        "metric": "metric",
        "on": "host",
        "moved by": "change",
        "evidence": "evidence",
        "since stack": "since",
        "now": "now",
        **{f"trigger {name}": name for name in GROUPS_ZH},
        **under("word ", "en"),
        "word no alarm": "no alarm",
        "word suspect": "suspect",
        "word waiting": "waiting",
        "word running": "running",
    }
)
CHINESE = MappingProxyType(
    {
        "none": "最近 {days} 天没有发现变化。",
        "none today": "最近一天没有发现变化。",
        "older": "更早的：--cursor {cursor}",
        "suspect": "可疑：{count}{direction}{size}，自 {change} 起；随 {seen} 发现；{where}",
        "series": "{cells} 个单元的 {series} 条序列",
        "sum": "{trigger} 合计",
        "worse": "变差",
        "better": "变好",
        "size": " {size}",
        "change": "{before} → {after}",
        "host": "变化来自主机 {host} 本身",
        "hosts": "主机 {hosts}",
        "event": "候选事件 {id}：{said}",
        "triggered": "由 {trigger} 触发，发现于 {at}",
        "since": "首次测到新水平：{at}",
        "presumed": "当时未测量、推定同样变化：{names}{more}",
        "confirm": "复测确认 {id}：{word}",
        "runs": "来自运行 {names}{more}",
        "more": "，另有 {count} 个",
        "cell": "单元",
        "metric": "指标",
        "on": "主机",
        "moved by": "变化",
        "evidence": "证据强度",
        "since stack": "起始版本组合",
        "now": "目前",
        **{f"trigger {name}": word for name, word in GROUPS_ZH.items()},
        **under("word ", "zh"),
        "word no alarm": "无告警",
        "word suspect": "可疑",
        "word waiting": "等待中",
        "word running": "进行中",
    }
)
CATALOGUES: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {Language.EN: ENGLISH, Language.ZH: CHINESE}
)
