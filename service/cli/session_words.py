"""The words of a session that runs, and of its end, in both languages, with equal keys."""

from collections.abc import Mapping
from types import MappingProxyType

from service.cli.answers.words import Language
from service.formats.reason_words import WORDS_ZH

ENGLISH = MappingProxyType(
    {
        "session": "session",
        "left": "left",
        "nobody": "waiting for a runner",
        "counts": "{plan}: {measured} of {count} launches",
        "claimed": "launch {number}, {stack}: claimed by {runner}",
        "present": "launch {number}, {stack}: {phase}",
        "beside": " ({text})",
        "semicolon": "; ",
        "comma": ", ",
        "base": "base",
        "candidate": "candidate",
        "phase build": "build",
        "phase preflight": "preflight",
        "phase start": "start",
        "phase measure": "measure",
        "phase stop": "stop",
        "end measured": "{count} measured",
        "end broken": "{count} broken",
        "end given up": "{count} given up",
        "end cancelled": "{count} cancelled",
        "end left out": "{count} left out",
        "measuring": "measuring {names}: about {minutes} min",
        "and": " and ",
        "goes on": "session {id} goes on without you: `kunline session show {id}` tells how far it "
        "is, `kunline session cancel {id}` ends it",
        "broke": "launch {number} of {stack} broke at {layer}: {finding}",
        "is": "launch {number} of {stack} is {state}",
        "alone": "No stack to compare: pin this one with `kunline baseline pin`, or name a second "
        "with --stack.",
        "none": "No session yet: `kunline run PLAN` asks for one.",
        "plan": "plan",
        "state": "state",
        "done": "done",
        "launches": "launches",
        "host": "host",
        "asked": "asked for at",
        "launch": "launch",
        "stack": "stack",
        "attempt": "attempt",
        "cells": "cells",
        "runner": "runner",
        "seen": "what was seen",
        "title": "session {id}: {plan}, {state}, {done} done",
        "state running": "running",
        "state finished": "finished",
        **{f"state {name}": name for name in WORDS_ZH["jobs"]},
        **{f"layer {name}": name for name in WORDS_ZH["layer"]},
    }
)
CHINESE = MappingProxyType(
    {
        "session": "测量会话",
        "left": "剩余",
        "nobody": "等待执行器",
        "counts": "{plan}：已测 {measured}/{count} 次启动",
        "claimed": "第 {number} 次启动，{stack}：已由 {runner} 领取",
        "present": "第 {number} 次启动，{stack}：{phase}",
        "beside": "（{text}）",
        "semicolon": "；",
        "comma": "，",
        "base": "基准",
        "candidate": "候选",
        "phase build": "构建",
        "phase preflight": "预检",
        "phase start": "启动服务",
        "phase measure": "测量",
        "phase stop": "停止服务",
        "end measured": "{count} 次已测",
        "end broken": "{count} 次故障",
        "end given up": "{count} 次已放弃",
        "end cancelled": "{count} 次已取消",
        "end left out": "{count} 次未测",
        "measuring": "正在测量 {names}：约 {minutes} 分钟",
        "and": " 与 ",
        "goes on": "测量会话 {id} 会继续进行：`kunline session show {id}` 查看进度，"
        "`kunline session cancel {id}` 结束它",
        "broke": "{stack} 的第 {number} 次启动停在{layer}层：{finding}",
        "is": "{stack} 的第 {number} 次启动{state}",
        "alone": "没有可比较的版本组合：请用 `kunline baseline pin` 固定这一个，"
        "或用 --stack 指定第二个。",
        "none": "还没有测量会话：可用 `kunline run PLAN` 发起。",
        "plan": "计划",
        "state": "状态",
        "done": "完成",
        "launches": "启动次数",
        "host": "主机",
        "asked": "发起时间",
        "launch": "启动",
        "stack": "版本组合",
        "attempt": "第几次尝试",
        "cells": "单元",
        "runner": "执行器",
        "seen": "所见",
        "title": "测量会话 {id}：{plan}，{state}，完成 {done}",
        "state running": "进行中",
        "state finished": "已结束",
        **{f"state {name}": word for name, word in WORDS_ZH["jobs"].items()},
        **{f"layer {name}": word for name, word in WORDS_ZH["layer"].items()},
    }
)
CATALOGUES: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {Language.EN: ENGLISH, Language.ZH: CHINESE}
)
