"""The words for why no runner takes a session's launches: one catalogue, with equal keys."""

from collections.abc import Mapping
from types import MappingProxyType

from service.cli.answers.words import Language

_EN = {
    "nobody": (
        "no runner of pool {pool} is registered: the gate is queued until one is; "
        "`kunline runner --pool {pool}` starts one on the host with the cards"
    ),
    "nobody there": (
        "its launches are bound to host {host}, where the first of them ran, and no runner of pool "
        "{pool} is registered there: it stays queued until `kunline runner --pool {pool}` starts "
        "one there, or cancel it and ask again"
    ),
    "none takes it": "no runner will take it as things are, so it stays queued: {told}",
    "more": "and {count} more runners, which `kunline host list` shows",
    "runner": "{runner} on {host} {keeps}",
    "chip": "serves {chips}, and {chip} is asked for",
    "cards": (
        "has {has} cards, and {cards} are asked for: give it more, or name a plan that takes fewer"
    ),
    "paused": "is paused: `kunline host resume {runner}` lets it work",
    "draining": "is draining: `kunline host resume {runner}` lets it work",
    "closed": "begins jobs at {window} only (KUNLINE_WINDOW): it is waited for",
    "silent": (
        "was last heard of at {seen}, and asks every few seconds: look whether it runs and what "
        "its log says (its clock, a full disk, cards that another holds or an older release keep "
        "one silent)"
    ),
    "; ": "; ",
    ", ": ", ",
}
_ZH = {
    "nobody": (
        "资源池 {pool} 没有已注册的执行器，门禁一直排队；请在有卡的主机上运行 "
        "`kunline runner --pool {pool}`"
    ),
    "nobody there": (
        "第一次启动在主机 {host} 上运行，其余启动也须在该主机进行，而资源池 {pool} "
        "在那里没有已注册的执行器：请在该主机上运行 `kunline runner --pool {pool}`，"
        "或取消后重新提交"
    ),
    "none takes it": "目前没有执行器会领取，因此一直排队：{told}",
    "more": "另有 {count} 个执行器，见 `kunline host list`",
    "runner": "{host} 上的 {runner} {keeps}",
    "chip": "支持 {chips}，而要求 {chip}",
    "cards": "有 {has} 张卡，而要求 {cards} 张：请为其分配更多的卡，或改用占卡更少的计划",
    "paused": "已暂停：`kunline host resume {runner}` 可恢复",
    "draining": "正在排空：`kunline host resume {runner}` 可恢复",
    "closed": "只在 {window} 开始作业（KUNLINE_WINDOW）：到时会领取",
    "silent": (
        "最后一次联系是 {seen}，正常应每隔几秒联系一次：请检查进程是否在运行，并查看日志"
        "（时钟偏差、磁盘已满、卡被他人占用或版本过旧都会使其失联）"
    ),
    "; ": "；",
    ", ": "、",
}

CATALOGUES: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {Language.EN: MappingProxyType(_EN), Language.ZH: MappingProxyType(_ZH)}
)
