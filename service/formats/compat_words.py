"""What the compatibility table and the advisor say, in both languages: one catalogue, equal keys.

What was found by others (findings, sources, names of components) is not translated.
"""

from collections.abc import Mapping
from types import MappingProxyType

from service.formats.messages import Message

Value = str | int | float

EN: Mapping[str, str] = MappingProxyType(
    {
        "advice.broken": "no: broken at {layer} in {count} of {of} cells",
        "advice.forbidden": "no: declared not to go together ({names}), and never measured",
        "advice.no cells": "unknown: the stack in use has no measured cell to compare in",
        "advice.missing": "unknown: {count} of {of} cells were never measured",
        "advice.costs": "yes, with costs: {count} of {of} cells get worse",
        "advice.costs and open": (
            "yes, with costs: {count} of {of} cells get worse, {open} are open"
        ),
        "advice.open": "unknown: {count} of {of} cells need more launches to tell",
        "advice.fine": "yes: no cell of {of} gets worse by its tolerance",
        "constraint.together": "{components} move together",
        "constraint.requires": "needs {then}",
        "constraint.requires when": "{when} needs {then}",
        "contradiction": "works, though {name} declares: {words} ({source})",
        "history.never tested": "never tested",
        "history.never worked": "never worked; broken at {layer} in {stack}",
        "history.works": "works in the newest that was tested, {worked}",
        "history.turned": "worked until {worked}; broken at {layer} since {broken}",
        "plan.asked": "{name}: asked {times} times, {count} of {of} cells open",
        "plan.stale": "{name}: measured {days} days ago",
    }
)
ZH: Mapping[str, str] = MappingProxyType(
    {
        "advice.broken": "不可以：{of} 个单元中有 {count} 个停在 {layer} 层，无法运行",
        "advice.forbidden": "不可以：已声明不能搭配使用（{names}），且从未实测",
        "advice.no cells": "无法判断：当前版本组合没有可供比较的已测单元",
        "advice.missing": "无法判断：{of} 个单元中有 {count} 个从未测过",
        "advice.costs": "可以，但有代价：{of} 个单元中有 {count} 个变差",
        "advice.costs and open": (
            "可以，但有代价：{of} 个单元中有 {count} 个变差，{open} 个尚无定论"
        ),
        "advice.open": "无法判断：{of} 个单元中有 {count} 个需要更多次启动才能定论",
        "advice.fine": "可以：{of} 个单元的劣化都在容忍度之内",
        "constraint.together": "{components} 须一并升级",
        "constraint.requires": "需要 {then}",
        "constraint.requires when": "{when} 需要 {then}",
        "contradiction": "实测可用，但 {name} 声明：{words}（{source}）",
        "history.never tested": "从未测试",
        "history.never worked": "从未可用；在 {stack} 中停在 {layer} 层",
        "history.works": "最新测过的 {worked} 可用",
        "history.turned": "直到 {worked} 都可用；自 {broken} 起停在 {layer} 层",
        "plan.asked": "{name}：被询问 {times} 次，{of} 个单元中有 {count} 个尚无结论",
        "plan.stale": "{name}：上次测量在 {days} 天前",
    }
)


class Said(Message):
    """A sentence in both languages, and its code and values for whoever has words of their own."""

    code: str
    values: dict[str, Value]
    en: str
    zh: str


def said(code: str, **values: "Value | Said") -> Said:
    """Return a sentence of the catalogue. A value may be a sentence itself."""
    english = {name: each.en if isinstance(each, Said) else each for name, each in values.items()}
    chinese = {name: each.zh if isinstance(each, Said) else each for name, each in values.items()}
    return Said(
        code=code,
        values=english,
        en=EN[code].format_map(english),
        zh=ZH[code].format_map(chinese),
    )
