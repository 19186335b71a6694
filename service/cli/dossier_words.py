"""The words of a dossier, in English and Chinese; both have the same keys."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from service.formats.outcome_words import under


class Language(StrEnum):
    """The languages that a dossier is written in."""

    EN = "en"
    ZH = "zh"


ENGLISH = MappingProxyType(
    {
        "title": "Qualification dossier",
        "answer": "Answer: ",
        "answer yes": "YES: no cell gets worse by its tolerance",
        "answer yes, with costs": "YES, WITH COSTS: the cells below get worse",
        "answer no": "NO: the new stack breaks",
        "answer unknown": "UNKNOWN: what was measured does not decide",
        "upgrade": "Upgrade",
        "component": "component",
        "from": "from",
        "to": "to",
        "restart": "restart",
        "scope process": "process",
        "scope container": "container",
        "scope host": "host (reboot)",
        "hosts interleaved": "Interleaved on one host, {canary}: nothing that changes needs a "
        "reboot, so both stacks took turns there within one session; plan {plan}.",
        "hosts crossover": "Crossover of two hosts: {canary} was changed (canary), {control} was "
        "not (control); plan {plan}.",
        "sizes": "What changed",
        "rule interleaved": "The new stack against the old one, launch by launch in turn. "
        "Positive is worse. 95 % intervals, one launch is one observation.",
        "rule crossover": "The change on the canary, less the change on the control. Positive is "
        "worse. 95 % intervals, one launch is one observation.",
        "cell": "cell",
        "metric": "metric",
        "word": "verdict",
        "before": "before",
        "after": "after",
        "worse": "worse by",
        "interval": "interval",
        "tolerance": "tolerance",
        "seen from": "would be seen from",
        **under("outcome ", "en"),
        "outcome insufficient baseline": "too few launches",
        "outcome missing": "not measured",
        "control moved": "{cell}: the control moved by {moved} meanwhile; launches {launches} "
        "(canary before, after; control before, after).",
        "launches": "{cell}: launches {launches} (old stack, new stack).",
        "finding": "{cell}: {finding}",
        "not tested": "Not tested",
        "not tested none": "Every cell in which the old stack is known to work was measured.",
        "not tested rest": "Anything but the cells above: other models, other numbers of cards, "
        "other lengths, and other hosts than named above.",
        "rollback": "Rollback",
        "rollback untouched": "Nothing on the host was changed for this: the old stack can be "
        "started again at any time, by its name.",
        "rollback kept": "Not rolled back. To go back, in this order:",
        "rollback open": "Not decided yet. To go back, in this order:",
        "rollback asked": "A rollback is asked for and not measured yet. In this order:",
        "rollback done": "Rolled back and measured again; against before the change:",
        "rollback back": "The old stack is what it was before the change.",
        "rollback away": "The old stack is not what it was before the change. Either the rollback "
        "is not complete: `kunline compat verify` on the host tells what is installed. Or the "
        "hosts drifted apart meanwhile: then the sizes of the change above may be off by as much.",
        "rollback unknown": "That the old stack is what it was is not shown: smaller changes than "
        "the last column names would not have been seen.",
        "point drain": "drain the host, and wait until its runner is idle",
        "point note_versions": "note what is installed, and keep the old packages at hand",
        "point install": "install the versions named above, and nothing else",
        "point pull_image": "pull the image by its digest, and start the container from it",
        "point reboot": "reboot the host",
        "point preflight": "run the preflight; each layer works",
        "point resume": "let the runner work again",
        "done": "Done",
        "opened": "{at} opened by {by}",
        "changed": "{at} changed by {by}: {note}",
        "rolled_back": "{at} rolled back by {by}: {note}",
        "decided keep": "{at} kept by {by}: {note}",
        "decided roll back": "{at} rollback decided by {by}: {note}",
        "decided not to": "{at} not taken over, decided by {by}: {note}",
        "sign": "Signed: ____________________    Date: ____________",
        "made": "Written {at} from qualification {id}.",
    }
)
CHINESE = MappingProxyType(
    {
        "title": "升级验证报告",
        "answer": "结论：",
        "answer yes": "可以升级：所有单元的劣化都在容忍度之内",
        "answer yes, with costs": "可以升级，但有代价：下列单元出现劣化",
        "answer no": "不可升级：新版本组合无法正常工作",
        "answer unknown": "无法判断：现有测量不足以得出结论",
        "upgrade": "升级内容",
        "component": "组件",
        "from": "原版本",
        "to": "新版本",
        "restart": "需重启",
        "scope process": "进程",
        "scope container": "容器",
        "scope host": "主机（重启机器）",
        "hosts interleaved": "在同一台主机 {canary} 上交替测量：变更内容无需重启机器，"
        "两个版本组合在同一会话内轮流启动；计划 {plan}。",
        "hosts crossover": "两台主机交叉对照：{canary} 已变更（灰度主机），"
        "{control} 未变更（对照主机）；计划 {plan}。",
        "sizes": "变化幅度",
        "rule interleaved": "新版本组合与原版本组合逐次启动、交替对比；正值为劣化。"
        "区间置信度 95 %，以一次启动为一个观测。",
        "rule crossover": "灰度主机的变化减去对照主机的变化；正值为劣化。"
        "区间置信度 95 %，以一次启动为一个观测。",
        "cell": "单元",
        "metric": "指标",
        "word": "结论",
        "before": "变更前",
        "after": "变更后",
        "worse": "劣化",
        "interval": "区间",
        "tolerance": "容忍度",
        "seen from": "最小可检出变化",
        **under("outcome ", "zh"),
        "outcome insufficient baseline": "启动次数不足",
        "control moved": "{cell}：对照主机同期自身变化 {moved}；启动次数 {launches}"
        "（灰度前、灰度后、对照前、对照后）。",
        "launches": "{cell}：启动次数 {launches}（原版本组合、新版本组合）。",
        "finding": "{cell}：{finding}",
        "not tested": "未测试的内容",
        "not tested none": "原版本组合已知可用的单元均已测量。",
        "not tested rest": "上述单元以外的一切：其他模型、其他卡数、其他长度，"
        "以及上文未列出的主机。",
        "rollback": "回退",
        "rollback untouched": "本次验证未改动主机：可随时按名称重新启动原版本组合。",
        "rollback kept": "未回退。如需回退，按以下顺序执行：",
        "rollback open": "尚未决定。如需回退，按以下顺序执行：",
        "rollback asked": "已要求回退，尚未复测。按以下顺序执行：",
        "rollback done": "已回退并复测；与变更前相比：",
        "rollback back": "原版本组合已恢复到变更前的水平。",
        "rollback away": "原版本组合未恢复到变更前的水平。可能是回退不完整：请在该主机上运行 "
        "`kunline compat verify` 核对已安装的版本；也可能是两台主机在此期间各自漂移："
        "此时上文的变化幅度可能有同等大小的偏差。",
        "rollback unknown": "未能证明原版本组合已恢复：小于最后一列所示的变化无法检出。",
        "point drain": "将主机排空，等待其执行器空闲",
        "point note_versions": "记录当前已安装的版本，并保留旧版安装包",
        "point install": "只安装上表列出的版本，不改动其他组件",
        "point pull_image": "按摘要拉取镜像，并用它启动容器",
        "point reboot": "重启主机",
        "point preflight": "执行预检，确认各层正常",
        "point resume": "恢复执行器工作",
        "done": "操作记录",
        "opened": "{at} 由 {by} 发起",
        "changed": "{at} 由 {by} 完成变更：{note}",
        "rolled_back": "{at} 由 {by} 完成回退：{note}",
        "decided keep": "{at} 由 {by} 决定保留：{note}",
        "decided roll back": "{at} 由 {by} 决定回退：{note}",
        "decided not to": "{at} 由 {by} 决定不采用：{note}",
        "sign": "签字：____________________    日期：____________",
        "made": "生成于 {at}，验证编号 {id}。",
    }
)
WORDS: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {Language.EN: ENGLISH, Language.ZH: CHINESE}
)
