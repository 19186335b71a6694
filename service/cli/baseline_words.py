"""The words of baselines, their moves and rules in both languages: one catalogue, equal keys.

What people wrote (why, releases, names) is shown as it is.
"""

from collections.abc import Mapping
from types import MappingProxyType

from service.cli.answers.words import Language

ENGLISH = MappingProxyType(
    {
        "none pinned": "No baseline is pinned: `kunline baseline pin` pins a stack.",
        "none moved": "No baseline was ever moved.",
        "no rule": "No channel has a rule: `kunline baseline rule` makes one.",
        "more": "There are more: kunline baseline history --cursor {cursor}",
        "channel": "channel",
        "cell": "cell",
        "stack": "stack",
        "key": "key",
        "pinned by": "pinned by",
        "pinned at": "pinned at",
        "why": "why",
        "until": "until",
        "stands on": "stands on",
        "in force": "in force",
        "ended": "ended",
        "runs": "{count} runs",
        "runs left": "{count} runs, {gone} withdrawn",
        "when": "when",
        "did": "did",
        "who": "who",
        "from": "from",
        "to": "to",
        "move": "move",
        "none": "none",
        "cells more": "and {count} cells more",
        "undone": "{did}, undone",
        "kind pin": "pin",
        "kind release": "release {release}",
        "kind policy": "policy",
        "kind accept": "accept {incident}",
        "kind undo": "undo {undoes}",
        "rule": "rule",
        "stacks": "stacks",
        "state": "state",
        "pinned": "pinned",
        "by": "by",
        "made": "made",
        "cells": "{count} cells",
    }
)
CHINESE = MappingProxyType(
    {
        "none pinned": "尚未固定任何基线：可用 `kunline baseline pin` 固定一个版本组合。",
        "none moved": "基线从未变动。",
        "no rule": "没有任何通道设有规则：可用 `kunline baseline rule` 设置。",
        "more": "还有更多：kunline baseline history --cursor {cursor}",
        "channel": "通道",
        "cell": "单元",
        "stack": "版本组合",
        "key": "键",
        "pinned by": "固定人",
        "pinned at": "固定时间",
        "why": "理由",
        "until": "截止",
        "stands on": "依据",
        "in force": "生效中",
        "ended": "已结束",
        "runs": "{count} 次运行",
        "runs left": "{count} 次运行，另有 {gone} 次已撤回",
        "when": "时间",
        "did": "操作",
        "who": "人员",
        "from": "变动前",
        "to": "变动后",
        "move": "基线变动",
        "none": "无",
        "cells more": "另有 {count} 个单元",
        "undone": "{did}，已撤销",
        "kind pin": "固定",
        "kind release": "发布 {release}",
        "kind policy": "按规则固定",
        "kind accept": "接受事件 {incident}",
        "kind undo": "撤销 {undoes}",
        "rule": "规则",
        "stacks": "版本组合",
        "state": "状态",
        "pinned": "已固定",
        "by": "制定人",
        "made": "制定时间",
        "cells": "{count} 个单元",
    }
)
CATALOGUES: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {Language.EN: ENGLISH, Language.ZH: CHINESE}
)
