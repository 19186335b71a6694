"""What is refused of baselines, events, incidents, confirms, attributions and experiments.

Both languages, with equal keys; the English sentences are those of the errors that say them.
"""

from collections.abc import Mapping
from types import MappingProxyType

EN: Mapping[str, str] = MappingProxyType(
    {
        "refused.away": "the service at {url} is away: {seen}",
        "refused.not Kunline": "what answers at {url} is not Kunline",
        "refused.no token": "this service needs a token: --token or KUNLINE_TOKEN says it to a "
        "command, and 'Authorization: Bearer kl_…' in a request",
        "refused.token": "this token is not known, has expired or was revoked",
        "refused.scope": "the token '{name}' has no scope '{scope}'",
        # Of a baseline and its rules.
        "refused.frozen": "the baseline is frozen: incident {id} ({title}) is open",
        "refused.answer it": "answer it with `kunline incident triage {id}`",
        "refused.nothing to pin": "{stack} has no measured run in the cells asked for: nothing to "
        "pin",
        "refused.moved on": "{count} cells of move {id} were moved again since: take back what "
        "came after it first",
        "refused.moves": "`kunline baseline history {channel}` shows the moves in order",
        "refused.no move": "no move {id}",
        "refused.moves listed": "`kunline baseline history` shows them",
        "refused.none to undo": "no move of channel {channel} is left to take back",
        "refused.rule taken": "channel {channel} has a rule for {stacks}",
        "refused.end rule": "end it first with `kunline baseline end-rule {id}`",
        "refused.no rule": "no rule {id}",
        "refused.rules listed": "`kunline baseline rules` shows them",
        # Of an event, an incident and a confirm.
        "refused.no event": "no event {id}",
        "refused.event gone": "one may be gone because runs were withdrawn since it was seen",
        "refused.event without before": "event {id} knows no stack before its change: nothing to "
        "hold it to",
        "refused.no incident": "no incident {id}",
        "refused.incidents listed": "`kunline incident list` shows them",
        "refused.merged": "incident {id} is part of {whole}: name that",
        "refused.merged already": "incident {id} is part of {whole} already: name that one, or "
        "take it out with `kunline incident reopen`",
        "refused.over": "incident {id} is over: `kunline incident reopen` opens it",
        "refused.open": "incident {id} is open",
        "refused.itself": "an incident cannot be merged into itself: name two",
        "refused.directions": "one incident is for the worse and the other for the better",
        "refused.cells": "name cells that the incident lists, by their condition keys",
        "refused.all cells": "these are all its cells: one has to stay",
        "refused.no confirm": "no confirm {id}",
        "refused.confirms listed": "`kunline confirm list` shows them",
        "refused.not profiled": "no job measured both stacks of incident {id} on one host in a "
        "cell that it lists: run its plan with both stacks first",
        # Of a comparison and a stack.
        "refused.kinds": "a comparison is of two run ids or of two stacks, not of one each",
        "refused.no run yet": "{stack} has no run yet",
        "refused.no stack": "no stack {stack} is stored: neither a name nor the first digits of a "
        "key",
        "refused.many stacks": "{stack} is more than one stack",
        "refused.by key": "say which by its key: {keys}",
        "refused.no reading": "the {side} has no readable result",
        "refused.overruled": "{field} is assumed to be {value}, and the {side} tells {told}: an "
        "assumption never overrules a file",
        # Of an attribution.
        "refused.other attribution": "attribution {id} is of other stacks or of another incident: "
        "begin a new one",
        "refused.attribution over": "attribution {id} is {state}: begin a new one",
        "refused.host": "all that host {host} measures moved at once, so no stack is the cause: "
        "look at the host",
        "refused.plan without cells": "plan {plan} has none of the incident's cells: name another "
        "with --plan",
        "refused.no plan": "the incident's runs were measured elsewhere, so no plan is known: name "
        "one with --plan",
        "refused.no file": "no stack file of the matrix is stack {stack}, which it was measured "
        "with: name the file as it was then with {option}",
        "refused.other file": "{file} is stack {stack}, and the incident is of {other}: {option} "
        "takes the file as it was then",
        "refused.nothing differs": "the good and the bad stack differ in nothing that is pinned: "
        "look at the host, the client and the condition instead",
        # Of an experiment.
        "refused.no setting": "say what is tried: --set NAME=VALUE,VALUE",
        "refused.second": "an experiment changes one parameter, {name}, and {others} is another: "
        "try one after the other",
        "refused.one value": "an experiment needs two values or more: --set {name}=VALUE,VALUE",
        "refused.twice": "{name} is to have one value twice: {values}",
        "refused.most values": "{name} has {count} values, and {most} are the most",
        "refused.same values": "two of the values {values} of {name} are the same",
        "refused.no stack named": "plan {plan} names no stack: name one with --stack",
        "refused.undocumented": "{name} is documented nowhere that is known, and a library passes "
        "over a wrong name in silence: {hint} (kunline scaling parameters lists them; "
        "--undocumented tries it all the same)",
        "refused.unknown metric": "no metric '{name}'",
        "refused.near": "did you mean {near}?",
        "refused.there are": "there are {names}",
        "refused.there is none": "there is none",
        # Of a plan.
        "refused.no cell": "plan {plan} has no cell {keys}",
        "refused.not runnable": "plan {plan} cannot be run: {why}",
        "refused.no file named": "no {shelf} '{name}'",
        "refused.named twice": "the stack {stack} is named twice",
        "refused.other chip": "the stack {stack} is for chip {chip}, and the plan's cards are "
        "{cards}",
        "refused.no stack fits": "plan {plan} names no stack: name one with --stack, of {names}",
    }
)
ZH: Mapping[str, str] = MappingProxyType(
    {
        "refused.away": "无法连接 {url} 的服务：{seen}",
        "refused.not Kunline": "{url} 上的不是 Kunline 服务",
        "refused.no token": "此服务需要令牌：命令可用 --token 或 KUNLINE_TOKEN 给出，"
        "请求可用 'Authorization: Bearer kl_…' 给出",
        "refused.token": "令牌未知、已过期或已吊销",
        "refused.scope": "令牌 {name} 没有权限 {scope}",
        "refused.frozen": "基线已冻结：事件 {id}（{title}）尚未结束",
        "refused.answer it": "请先用 `kunline incident triage {id}` 处置",
        "refused.nothing to pin": "{stack} 在所要求的单元中没有测得的运行：没有可固定的内容",
        "refused.moved on": "基线变动 {id} 中有 {count} 个单元此后又有变动：请先撤销之后的变动",
        "refused.moves": "`kunline baseline history {channel}` 按顺序列出各次变动",
        "refused.no move": "没有基线变动 {id}",
        "refused.moves listed": "`kunline baseline history` 列出全部变动",
        "refused.none to undo": "通道 {channel} 没有可撤销的变动",
        "refused.rule taken": "通道 {channel} 已有针对 {stacks} 的规则",
        "refused.end rule": "请先用 `kunline baseline end-rule {id}` 结束该规则",
        "refused.no rule": "没有规则 {id}",
        "refused.rules listed": "`kunline baseline rules` 列出全部规则",
        "refused.no event": "没有候选事件 {id}",
        "refused.event gone": "可能因相关运行被撤回而消失",
        "refused.event without before": "候选事件 {id} 不知道变化前的版本组合：没有可对照的内容",
        "refused.no incident": "没有事件 {id}",
        "refused.incidents listed": "`kunline incident list` 列出全部事件",
        "refused.merged": "事件 {id} 已并入 {whole}：请改用后者",
        "refused.merged already": "事件 {id} 已并入 {whole}：请改用后者，"
        "或用 `kunline incident reopen` 将其移出",
        "refused.over": "事件 {id} 已结束：可用 `kunline incident reopen` 重新打开",
        "refused.open": "事件 {id} 尚未结束",
        "refused.itself": "事件不能并入自身：请给出两个事件",
        "refused.directions": "一个事件是退化，另一个是改善",
        "refused.cells": "请用 condition key 指定该事件所列的单元",
        "refused.all cells": "这已是它的全部单元：至少要保留一个",
        "refused.no confirm": "没有复测确认 {id}",
        "refused.confirms listed": "`kunline confirm list` 列出全部复测确认",
        "refused.not profiled": "在事件 {id} 所列的单元中，没有作业在同一台主机上测过两个版本组合："
        "请先用两个版本组合运行其计划",
        "refused.kinds": "比较的两侧须同为运行编号，或同为版本组合",
        "refused.no run yet": "{stack} 还没有运行",
        "refused.no stack": "没有存储版本组合 {stack}：它既不是名称，也不是键的开头几位",
        "refused.many stacks": "{stack} 对应多个版本组合",
        "refused.by key": "请用键指明是哪一个：{keys}",
        "refused.no reading": "{side}没有可读的结果",
        "refused.overruled": "{field} 被假定为 {value}，而{side}给出 {told}：假定不能推翻文件",
        "refused.other attribution": "归因 {id} 属于其他版本组合或其他事件：请新建一次归因",
        "refused.attribution over": "归因 {id} 已不再进行（{state}）：请新建一次归因",
        "refused.host": "主机 {host} 上的全部测量同时变化，原因不在版本组合：请检查该主机",
        "refused.plan without cells": "计划 {plan} 不含该事件的任何单元：请用 --plan 指定其他计划",
        "refused.no plan": "该事件的运行在别处测得，计划未知：请用 --plan 指定",
        "refused.no file": "矩阵中没有与测量时的版本组合 {stack} 相同的文件："
        "请用 {option} 指定当时的文件",
        "refused.other file": "{file} 是版本组合 {stack}，而该事件属于 {other}："
        "{option} 应为当时的文件",
        "refused.nothing differs": "两个版本组合固定的内容没有任何不同："
        "请检查主机、客户端与测试条件",
        "refused.no setting": "请说明要试什么：--set NAME=VALUE,VALUE",
        "refused.second": "一次调参实验只改变一个参数 {name}，而 {others} 是另一个：请逐个进行",
        "refused.one value": "调参实验至少需要两个取值：--set {name}=VALUE,VALUE",
        "refused.twice": "{name} 的取值有重复：{values}",
        "refused.most values": "{name} 有 {count} 个取值，最多 {most} 个",
        "refused.same values": "{name} 的取值 {values} 中有两个相同",
        "refused.no stack named": "计划 {plan} 没有指定版本组合：请用 --stack 指定",
        "refused.undocumented": "{name} 在已知资料中没有任何说明，而库会默默忽略写错的名称："
        "{hint}（kunline scaling parameters 列出已知参数；--undocumented 可强行试用）",
        "refused.unknown metric": "没有指标 {name}",
        "refused.near": "是否要用 {near}？",
        "refused.there are": "可用的有 {names}",
        "refused.there is none": "目前一个也没有",
        "refused.no cell": "计划 {plan} 没有单元 {keys}",
        "refused.not runnable": "计划 {plan} 无法运行：{why}",
        "refused.no file named": "没有{shelf} {name}",
        "refused.named twice": "版本组合 {stack} 出现了两次",
        "refused.other chip": "版本组合 {stack} 用于芯片 {chip}，而计划的卡为 {cards}",
        "refused.no stack fits": "计划 {plan} 没有指定版本组合：请用 --stack 指定，可选 {names}",
    }
)
