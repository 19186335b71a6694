"""The sentences by which the service says why, in both languages: one catalogue, with equal keys.

How a stored sentence is recognised and said anew: service/formats/reasons.py.
"""

from collections.abc import Mapping
from types import MappingProxyType

from service.domain.metric import METRICS
from service.domain.validity import Gate
from service.formats.gate_words import MUST_ZH
from service.formats.outcome_words import CHINESE

EN: Mapping[str, str] = MappingProxyType(
    {
        # Of a verdict, after domain/verdict.py, domain/comparison.py and usecases/sides.py.
        "verdict.regressed": "the whole interval is worse than the baseline and its center is at "
        "or beyond the tolerance",
        "verdict.improved": "the whole interval is better than the baseline and its center is at "
        "or beyond the tolerance; look for failures, short output or cache hits before believing "
        "it",
        "verdict.unchanged": "the whole interval lies inside the tolerance",
        "verdict.inconclusive": "the interval is too wide or lies across a bound: more launches "
        "would tell",
        "verdict.one launch": "one launch alone decides it: more launches would tell",
        "verdict.no value": "the candidate has no value",
        "verdict.repeats": "the baseline has {measured} repeats and needs {needed}",
        "verdict.spread": "a spread needs more than one value on one side, got {baseline} of the "
        "baseline and {candidate} of the candidate",
        "verdict.not positive": "a relative change needs finite values above zero, got {value}",
        "verdict.tail": "a {tail} needs at least {least} completed requests, and {completed} "
        "completed",
        "verdict.tail untold": "a {tail} needs at least {least} completed requests, and their "
        "number is not told",
        "verdict.tail in": "a {tail} needs at least {least} completed requests, and {completed} "
        "completed, in {place}",
        "verdict.tail untold in": "a {tail} needs at least {least} completed requests, and their "
        "number is not told, in {place}",
        "verdict.incomplete": "the condition is incomplete: {fields}",
        "verdict.hosts": "fewer than {least} launches that count on one of the hosts",
        "side": "{side}: {whys}",
        "side.no baseline": "no baseline is pinned for this cell",
        "side.no launch on host": "{stack} has no launch on host {host}",
        "side.no launch": "{stack} has no launch",
        "side.never": "never measured in this cell",
        "side.no run": "no run: its job is {jobs}",
        "side.not yet": "not measured yet: its job is {jobs}",
        "side.unjudged": "it has no launch that may be judged",
        "side.definitions": "its values and those beside them are of definitions {listed}: "
        "withdraw one kind",
        "side.broken": "broken at {layer}: {finding}",
        "side.drift": "stack drift: {drifted}",
        "side.incomplete": "incomplete: neither the result nor the server's log settles {gates}",
        "side.withdrawn": "run {run}, withdrawn by {who} on {day}: {said}",
        # What gates found, after domain/validity.py and domain/told.py.
        "gate": "{gate}: {why}",
        "gate.failed": "{must}: observed {observed}, required {required}",
        "gate.failed beside": "{must}: observed {observed}, required {required}: {finding}",
        "gate.unknown": "not known whether it holds: {must}",
        "gate.results": "{gate} in {count} of {of} results",
        "gate.results first": "{gate} in {count} of {of} results, first in {place}: {why}",
        # What a comparison warns of.
        "warning.one launch": "one launch on each side: the interval comes from repeats, which "
        "share their launch's luck, so launch-to-launch spread is not in it",
        "warning.luck": "one launch on each side: how much launches differ is taken from history "
        "alone, so a rare bad launch reads as a change",
        "warning.no spread": "the values on each side are all equal, so their spread reads as zero",
        "warning.unequal": "launches have unequal numbers of repeats, so the effects of seeds may "
        "not cancel",
        "warning.apart": "not interleaved: measured at another time",
        "warning.no host": "not known to be of one host: somebody imported runs without saying "
        "theirs",
        "warning.odd": "odd, and judged all the same: {gates}",
        "warning.unseen": "not known to hold: {gates}",
        "warning.imported": "{count} of {of} runs imported",
        "warning.launches": "{count} of {of} launches have a run",
        "warning.unjudged": "{count} of {of} runs not judged: {why}",
        "warning.copies": "{count} of {of} results are copies of others, and not counted",
        "warning.both sides": "{count} results stand on both sides: they are compared with "
        "themselves",
        "warning.one side": "only one side tells {fields}",
        "warning.no seed": "no seed was measured on both sides: what a seed adds does not cancel",
        "warning.seeds": "seeds of one side alone are left out: {seeds}",
        "warning.answers": "answers moved by {moved} nats a token, and launches of one stack "
        "differ by at most {usual}: look at the quality before the speed",
        "warning.answers under load": "with {load} requests in flight, {why}",
        "creep": "slow creep since {stack}: {steps}",
        "creep.step": "{metric} {by} (last step {step})",
        "creep.step more": "{metric} {by} (last step {step}) and {count} metrics more",
        "creep.sum": "each step is within the tolerance, the sum is not, so {stack} alone did not "
        "bring it",
        "creep.lost": "worse than {stack}, which was accepted last, in {metrics}, though within "
        "the tolerance of the baseline",
        "settled.asked": "{what}: {before} → {after}, asked for",
        "settled.not asked": "{what}: {before} → {after}, not asked for",
        "settled.untold": "{what}: {before} → {after}, not told whether asked for",
        "settled.one side": "only one of the two servers tells its {names}",
        "settled.one side more": "only one of the two servers tells its {names} and {count} more",
        # Of a confirm, after usecases/*_confirm.py and domain/confirm.py.
        "confirm.screen": "the screen suspects a change",
        "confirm.running": "at most {launches} launches in turn on {host}",
        "confirm.regressed": "at least one cell is worse by its tolerance or more, and surely "
        "worse",
        "confirm.improved": "at least one cell is better by its tolerance or more, and surely "
        "better",
        "confirm.unchanged": "every cell measured again lies inside its tolerance: a false alarm",
        "confirm.inconclusive": "the last look was taken, and its intervals are too wide to tell",
        "confirm.unjudged": "{outcome}: {whys}",
        "confirm.of metric": "{metric}: {why}",
        "confirm.not measured": "nothing was measured",
        "confirm.same stack": "the stack is the same before and after the change, so no stack is "
        "to blame",
        "confirm.no job": "no job measured both stacks on {host} in a cell that the event lists",
        "confirm.over budget": "over budget: {why}",
        "confirm.first look": "the first look needs {launches} launches and {card_s} card-seconds, "
        "and {left} and {left_s} are left tonight: raise the budget, or wait",
        "confirm.next look": "the budget ended it: the next look needs {launches} launches and "
        "{card_s} card-seconds more, and {left} and {left_s} are left",
        "confirm.lost": "too many launches were lost or spoiled: {whys}",
        "confirm.spoiled": "a run that may not be judged",
        "confirm.broke": "the {side} broke in {count} launches, at {layer}: {finding}",
        "confirm.deserted": "no runner of {host} came for its next launch in 24 hours",
        "confirm.cancelled": "its session was cancelled",
        "confirm.cancelled by": "{who} cancelled it",
        "confirm.reboot": "not interleaved: a component that needs a reboot changed; canary and "
        "control hosts are measured before and after with `{command}`",
        "confirm.crossed": "not interleaved: canary and control hosts, before and after, in "
        "qualification {id}",
        "confirm.crossed nothing": "not interleaved: canary and control hosts, before and after, "
        "in qualification {id}, which measured no cell that the event lists",
        # Of an incident and its history, and of a baseline's move.
        "incident.group": "{group} worse since {stack}",
        "incident.groups": "{group} and {other} worse since {stack}",
        "incident.better": "{group} better since {stack}",
        "incident.host": "worse on {host}",
        "incident.confirmed": "confirm {id} says regressed",
        "incident.fixed": "every metric listed is back inside the baseline in session {id}",
        "baseline.rule": "the first accepted run of {stacks}, by the rule of {who}: {said}",
        "baseline.rule's": "policy: first accepted run of {channel}",
        "baseline.accepted": "incident {id} accepted: {said}",
        # Of an attribution, a profile and an experiment.
        "attribution.searched": "searched between {good} and {bad}",
        "attribution.budget of two": "next would be {names} and {two}: {launches} launches, about "
        "{hours} card-hours, and {left_h} are left. Ask again with a larger --budget: what was "
        "measured is not measured again",
        "attribution.budget": "next would be {names}: {launches} launches, about {hours} "
        "card-hours, and {left_h} are left. Ask again with a larger --budget: what was measured is "
        "not measured again",
        "profile.not read": "its run holds no profile that this release reads",
        "profile.one card": "one card has nobody to tell anything",
        "profile.not seen": "its launch tells of no messages between its cards: they were not "
        "measured",
        "profile.layouts": "only tensor parallel layouts are estimated, and not pp, dp or ep",
        "profile.no device": "the profiler saw no kernel of a card, only what the host asked of "
        "it, so nothing is told of messages: this stack's torch does not hand its cards' "
        "activities to torch's profiler",
        "experiment.kept": "no other value improves {metric} in a cell without a cell in which it "
        "is worse",
        "experiment.taken": "{metric} is improved in a cell and regressed in none",
    }
)
ZH: Mapping[str, str] = MappingProxyType(
    {
        "verdict.regressed": "整个区间都比基线差，且中心值达到或超过容忍度",
        "verdict.improved": "整个区间都比基线好，且中心值达到或超过容忍度；"
        "采信之前请先排查请求失败、输出过短或缓存命中",
        "verdict.unchanged": "整个区间都在容忍度之内",
        "verdict.inconclusive": "区间过宽或跨越界限：需要更多次启动才能判定",
        "verdict.one launch": "结论只取决于其中一次启动：需要更多次启动才能判定",
        "verdict.no value": "候选没有测量值",
        "verdict.repeats": "基线只有 {measured} 次重复，需要 {needed} 次",
        "verdict.spread": "至少一侧要有一个以上的值才能估计离散程度："
        "基线 {baseline} 个，候选 {candidate} 个",
        "verdict.not positive": "计算相对变化需要大于零的有限值，实际为 {value}",
        "verdict.tail": "{tail} 至少需要 {least} 个完成的请求，实际完成 {completed} 个",
        "verdict.tail untold": "{tail} 至少需要 {least} 个完成的请求，而完成的请求数未知",
        "verdict.tail in": "{tail} 至少需要 {least} 个完成的请求，实际完成 {completed} 个，"
        "位于 {place}",
        "verdict.tail untold in": "{tail} 至少需要 {least} 个完成的请求，而完成的请求数未知，"
        "位于 {place}",
        "verdict.incomplete": "测试条件不完整：{fields}",
        "verdict.hosts": "其中一台主机上有效的启动不足 {least} 次",
        "side": "{side}：{whys}",
        "side.no baseline": "该单元没有固定的基线",
        "side.no launch on host": "{stack} 在主机 {host} 上没有启动记录",
        "side.no launch": "{stack} 没有启动记录",
        "side.never": "该单元从未测量",
        "side.no run": "没有运行：作业{jobs}",
        "side.not yet": "尚未测量：作业{jobs}",
        "side.unjudged": "没有可供判定的启动",
        "side.definitions": "参与比较的值分属不同的指标定义 {listed}：请撤回其中一种",
        "side.broken": "停在{layer}层：{finding}",
        "side.drift": "版本漂移：{drifted}",
        "side.incomplete": "不完整：结果与服务日志都不能确定 {gates}",
        "side.withdrawn": "运行 {run} 已由 {who} 于 {day} 撤回：{said}",
        "gate": "{gate}：{why}",
        "gate.failed": "{must}（实际：{observed}；要求：{required}）",
        "gate.failed beside": "{must}（实际：{observed}；要求：{required}）：{finding}",
        "gate.unknown": "无法确认是否满足：{must}",
        "gate.results": "{of} 个结果中有 {count} 个未通过 {gate}",
        "gate.results first": "{of} 个结果中有 {count} 个未通过 {gate}，首个在 {place}：{why}",
        "warning.one launch": "两侧各只有一次启动：区间由重复得出，而同一次启动的重复受同样的"
        "偶然因素影响，因此不含启动之间的差异",
        "warning.luck": "两侧各只有一次启动：启动之间的差异完全取自历史，"
        "偶尔一次异常启动也会被看成变化",
        "warning.no spread": "两侧各自的值全部相同，离散程度按零计",
        "warning.unequal": "各次启动的重复次数不等，随机种子的影响可能无法抵消",
        "warning.apart": "非交替测量：两侧在不同时间测得",
        "warning.no host": "无法确认两侧来自同一台主机：有人导入运行时没有注明主机",
        "warning.odd": "存在异常，但仍参与判定：{gates}",
        "warning.unseen": "无法确认是否通过：{gates}",
        "warning.imported": "{of} 次运行中有 {count} 次为导入",
        "warning.launches": "{of} 次启动中只有 {count} 次有运行",
        "warning.unjudged": "{of} 次运行中有 {count} 次未参与判定：{why}",
        "warning.copies": "{of} 个结果中有 {count} 个是其他结果的副本，不重复计入",
        "warning.both sides": "有 {count} 个结果同时出现在两侧：等于与自身比较",
        "warning.one side": "只有一侧给出 {fields}",
        "warning.no seed": "没有任何随机种子在两侧都测过：种子的影响无法抵消",
        "warning.seeds": "只在一侧测过的随机种子不参与比较：{seeds}",
        "warning.answers": "回答偏移 {moved} nat/token，而同一版本组合的各次启动之间最多相差 "
        "{usual}：请先看质量，再看速度",
        "warning.answers under load": "{load} 并发时，{why}",
        "creep": "自 {stack} 起缓慢劣化：{steps}",
        "creep.step": "{metric} {by}（最近一步 {step}）",
        "creep.step more": "{metric} {by}（最近一步 {step}），另有 {count} 个指标",
        "creep.sum": "每一步都在容忍度之内，累计则超出，因此并非 {stack} 一步所致",
        "creep.lost": "{metrics} 比最近接受的 {stack} 差，但仍在基线的容忍度之内",
        "settled.asked": "{what}：{before} → {after}，为指定值",
        "settled.not asked": "{what}：{before} → {after}，并非指定",
        "settled.untold": "{what}：{before} → {after}，不知是否指定",
        "settled.one side": "只有一侧服务给出：{names}",
        "settled.one side more": "只有一侧服务给出：{names} 以及另外 {count} 项",
        "confirm.screen": "初筛怀疑有变化",
        "confirm.running": "在 {host} 上交替启动，最多 {launches} 次",
        "confirm.regressed": "至少一个单元确定变差，且幅度达到或超过容忍度",
        "confirm.improved": "至少一个单元确定变好，且幅度达到或超过容忍度",
        "confirm.unchanged": "复测的每个单元都在容忍度之内：属于误报",
        "confirm.inconclusive": "已完成最后一次察看，区间过宽，无法判定",
        "confirm.unjudged": "{outcome}：{whys}",
        "confirm.of metric": "{metric}：{why}",
        "confirm.not measured": "没有测到任何内容",
        "confirm.same stack": "变化前后是同一个版本组合，因此不能归咎于版本组合",
        "confirm.no job": "在事件所列单元中，{host} 上没有作业测过这两个版本组合",
        "confirm.over budget": "超出预算：{why}",
        "confirm.first look": "第一次察看需要启动 {launches} 次、{card_s} 卡秒，"
        "今晚只剩 {left} 次、{left_s} 卡秒：请提高预算或等待",
        "confirm.next look": "预算用尽，提前结束：下一次察看还需启动 {launches} 次、{card_s} 卡秒，"
        "只剩 {left} 次、{left_s} 卡秒",
        "confirm.lost": "丢失或作废的启动过多：{whys}",
        "confirm.spoiled": "有运行不能参与判定",
        "confirm.broke": "{side}有 {count} 次启动停在{layer}层：{finding}",
        "confirm.deserted": "24 小时内 {host} 上没有执行器来领取下一次启动",
        "confirm.cancelled": "其测量会话已取消",
        "confirm.cancelled by": "已由 {who} 取消",
        "confirm.reboot": "非交替测量：有需要重启的组件发生变化；"
        "请用 `{command}` 在灰度主机与对照主机上于变更前后各测一遍",
        "confirm.crossed": "非交替测量：灰度主机与对照主机，变更前后各测一遍，见升级验证 {id}",
        "confirm.crossed nothing": "非交替测量：灰度主机与对照主机，变更前后各测一遍，"
        "见升级验证 {id}，其中没有测到事件所列的单元",
        "incident.group": "自 {stack} 起 {group} 退化",
        "incident.groups": "自 {stack} 起 {group} 与 {other} 退化",
        "incident.better": "自 {stack} 起 {group} 改善",
        "incident.host": "{host} 上退化",
        "incident.confirmed": "复测确认 {id} 判定为退化",
        "incident.fixed": "所列指标在测量会话 {id} 中均已回到基线范围内",
        "baseline.rule": "{stacks} 的第一次被接受的运行，依据 {who} 制定的规则：{said}",
        "baseline.rule's": "策略：{channel} 通道第一次被接受的运行",
        "baseline.accepted": "已接受事件 {id}：{said}",
        "attribution.searched": "在 {good} 与 {bad} 之间归因",
        "attribution.budget of two": "下一步是 {names} 与 {two}：启动 {launches} 次，"
        "约 {hours} 卡时，只剩 {left_h} 卡时。可加大 --budget 后重新执行：已测过的不会重测",
        "attribution.budget": "下一步是 {names}：启动 {launches} 次，约 {hours} 卡时，"
        "只剩 {left_h} 卡时。可加大 --budget 后重新执行：已测过的不会重测",
        "profile.not read": "其运行中没有本版本能读取的性能剖析",
        "profile.one card": "单卡没有卡间通信",
        "profile.not seen": "该次启动没有测过卡间通信",
        "profile.layouts": "只估算张量并行，不估算 pp、dp 或 ep",
        "profile.no device": "剖析器没有看到卡上的任何 kernel，只看到主机端的调用，因此不能给出"
        "通信情况：该版本组合的 torch 没有把卡的活动交给 torch profiler",
        "experiment.kept": "没有其他取值能改善 {metric} 而不使其在任何单元变差",
        "experiment.taken": "{metric} 在某个单元改善，且没有任何单元退化",
    }
)
GROUPS_ZH = {
    "all": "整体",
    "prefill": "prefill",
    "decode": "decode",
    "capacity": "容量",
    "other": "其他指标",
}
# Words of closed lists that stand within a sentence, by the name of the value.
WORDS_ZH: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "side": {"baseline": "基线", "candidate": "候选"},
        "outcome": CHINESE,
        "must": MUST_ZH,
        "jobs": {
            "queued": "排队中",
            "claimed": "进行中",
            "lost": "失联",
            "reported": "已上报",
            "given up": "已放弃",
            "cancelled": "已取消",
        },
        "group": GROUPS_ZH,
        "other": GROUPS_ZH,
        "shelf": {
            "plan": "计划",
            "stack": "版本组合",
            "model": "模型",
            "workload": "负载",
            "client": "客户端",
        },
        "layer": {
            "device": "设备",
            "driver": "驱动",
            "runtime": "运行时",
            "packages": "软件包",
            "client": "客户端",
            "memory": "显存",
            "copy": "拷贝",
            "stream": "流",
            "operator": "算子",
            "graph": "图",
            "collectives": "集合通信",
            "plugin": "插件",
            "weights": "权重",
            "capacity": "容量",
            "server": "服务",
            "answer": "回答",
        },
    }
)
BETWEEN, BETWEEN_ZH = "; ", "；"
LISTED, LISTED_ZH = ", ", "、"
# Values that are sentences themselves, those that are text of others, which may hold anything, and
# numbers.
SENTENCES, TEXTS = (
    frozenset({"why", "whys", "title", "hint"}),
    frozenset({"why", "whys", "finding", "said", "drifted", "observed"}),
)
# Values that are sentences in a list.
SENTENCES_LISTED = frozenset({"steps"})
# Values that gates write: words of theirs that mean something there alone.
SEEN = frozenset({"observed", "required"})
COUNTS = frozenset({"count", "of", "measured", "needed", "least", "launches", "left", "load"})
# Values that are words of a list, without which a sentence is not recognised.
CLOSED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        **{name: frozenset(WORDS_ZH[name]) for name in ("side", "outcome", "layer", "must")},
        "gate": frozenset(Gate),
        "metric": frozenset(METRICS),
    }
)
