"""The sentences of a gate in CI, in both languages: one catalogue, with equal keys.

Those of usecases/advance_gate.py, answer_gate.py, gate_budget.py and gate_cells.py, of
formats/gate_plans.py, and of the command line's gate_base.py and gate_power.py. How one is
recognised and said anew: service/formats/reasons.py.
"""

from collections.abc import Mapping
from types import MappingProxyType

EN: Mapping[str, str] = MappingProxyType(
    {
        # Why a cell was stopped, or has no run.
        "gate.certain": "more launches would not change what is said of it",
        "gate.cached": "unchanged or improved beside controls of earlier sessions on this host "
        "and one of its own",
        "gate.canary": "the canary has regressed, so the answer is known",
        "gate.budget": "the next launch would exceed the budget of card time",
        "gate.broke": "the {side} broke at {layer}",
        "gate.other broke": "another cell that gates broke",
        "gate.cancelled": "the gate was cancelled",
        "gate.unmeasured": "{stack} was not measured: {why}",
        "gate.no run": "{stack} has no run: its jobs are {jobs}",
        "gate.no run at all": "{stack} has no run",
        # How the base was found.
        "gate.base now": "{stack}, pinned in channel {channel} now",
        "gate.base until": "{stack}, pinned in channel {channel} until {day}, and nothing is "
        "pinned there now",
        "gate.base of merge": "{stack}, which pins the merge base {commit}",
        "gate.base at merge": "{stack}, pinned when the merge base {commit} was made",
        "gate.base named": "{stack}, named by a person",
        "gate.base plan's": "{stack}, the plan's own, as nothing is pinned",
        "gate.no merge base": "no baseline is of the merge base",
        "gate.git silent": "git does not tell the merge base with {branch}",
        "gate.others pinned": "{count} of {of} cells have another stack pinned",
        # Notes on the whole.
        "gate.nothing counted": "nothing was counted: every cell informs, is waived, or has an "
        "incident that is open",
        "gate.rounds": "the budget of card time allows {count} of the plan's {of} rounds",
        "gate.unreported one": "1 launch ended before the runner told anything of it: what it "
        "held the cards for until it was lost, {card_s} card-seconds, is in the time spent",
        "gate.unreported": "{count} launches ended before the runner told anything of them: what "
        "they held the cards for until they were lost, {card_s} card-seconds, is in the time "
        "spent",
        "gate.spent": "the budget was spent: {count} launches took {card_s} card-seconds where "
        "{planned} were planned",
        "gate.spent early": "the budget was spent before a control was there: {count} launches "
        "took {card_s} card-seconds where {planned} were planned",
        "gate.would do": "at that, --budget {all} would do for all",
        "gate.would do once": "at that, --budget {once} would have measured both stacks once, and "
        "--budget {all} would do for all",
        "gate.power": "planned power, at {metric}, the weakest: an equal candidate is called "
        "unchanged in {equal} of such gates, and one that is {worse} worse regressed in {seen}",
        "gate.prior": "no noise of it is stored yet, so this is the prior's",
    }
)
ZH: Mapping[str, str] = MappingProxyType(
    {
        "gate.certain": "再多的启动也不会改变该单元的结论",
        "gate.cached": "对照本机更早会话的基线及本次一次基线启动，结论为不变或改善",
        "gate.canary": "探路单元已退化，结论已知",
        "gate.budget": "再启动一次就会超出卡时预算",
        "gate.broke": "{side}停在{layer}层",
        "gate.other broke": "另一个门禁单元出现故障",
        "gate.cancelled": "门禁已取消",
        "gate.unmeasured": "{stack} 没有测量：{why}",
        "gate.no run": "{stack} 没有运行：作业{jobs}",
        "gate.no run at all": "{stack} 没有运行",
        "gate.base now": "{stack}，{channel} 通道当前固定的基线",
        "gate.base until": "{stack}，{channel} 通道到 {day} 为止固定的基线，现在没有固定任何基线",
        "gate.base of merge": "{stack}，其组件固定在合并基点 {commit}",
        "gate.base at merge": "{stack}，合并基点 {commit} 提交时固定的基线",
        "gate.base named": "{stack}，由人指定",
        "gate.base plan's": "{stack}，计划自带的基线，因为没有固定任何基线",
        "gate.no merge base": "没有对应合并基点的基线",
        "gate.git silent": "git 无法给出与 {branch} 的合并基点",
        "gate.others pinned": "{of} 个单元中有 {count} 个固定的是其他版本组合",
        "gate.nothing counted": "没有任何结论计入：所有单元都仅供参考、已豁免或有未关闭的事件",
        "gate.rounds": "卡时预算只够计划 {of} 轮中的 {count} 轮",
        "gate.unreported one": "有 1 次启动在执行器上报之前就中断：到失联为止占用的 {card_s} "
        "卡秒已计入用时",
        "gate.unreported": "有 {count} 次启动在执行器上报之前就中断：到失联为止占用的 {card_s} "
        "卡秒已计入用时",
        "gate.spent": "预算用尽：{count} 次启动用了 {card_s} 卡秒，计划为 {planned} 卡秒",
        "gate.spent early": "还没有测到基线，预算已经用尽：{count} 次启动用了 {card_s} 卡秒，"
        "计划为 {planned} 卡秒",
        "gate.would do": "照此计算，全部测完需要 --budget {all}",
        "gate.would do once": "照此计算，两个版本组合各测一次需要 --budget {once}，"
        "全部测完需要 --budget {all}",
        "gate.power": "计划的检出能力（按最弱的 {metric}）：相同的候选有 {equal} 判定为不变，"
        "变差 {worse} 的候选有 {seen} 判定为退化",
        "gate.prior": "尚无该指标的噪声记录，以上按先验估计",
    }
)
