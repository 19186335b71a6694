"""What the gates find, in Chinese: what must hold, by gate, and what was observed and required.

The English sentences are those of domain/validity.py and of the gates themselves; names, settings
and lines of logs are shown as they are.
"""

from collections.abc import Mapping
from types import MappingProxyType

from service.domain.validity import SENTENCES, Gate

MUST: Mapping[Gate, str] = MappingProxyType(
    {
        Gate.TOOL_FAILED: "压测工具必须以退出码 0 结束并写出一个结果",
        Gate.PROBE_REFUSED: "服务必须能处理一个该单元长度的请求",
        Gate.LENGTHS_NOT_EXACT: "单个请求的实际长度必须与要求完全一致",
        Gate.PROFILED: "测量期间不得运行性能剖析器",
        Gate.ALL_FAILED: "至少要有一个请求完成，且数值大于零",
        Gate.REQUESTS_FAILED: "要求的请求必须全部完成",
        Gate.OUTPUT_TOKENS_NOT_AS_ASKED: "返回的输出 token 数必须与要求一致",
        Gate.INPUT_TOKENS_NOT_AS_ASKED: "输入 token 数与要求的偏差不得超过 1 %",
        Gate.REQUESTED_COUNTED_AS_GENERATED: "输出 token 数必须是实际返回的，而不是请求要求的",
        Gate.NO_TEXT_CAME_BACK: "返回的文本必须含有 token",
        Gate.RETOKENISED_RATIO_ODD: "返回文本的 token 数应与计数大致相同",
        Gate.TTFT_ZERO: "首 token 时间的中位数必须大于零",
        Gate.ITL_ZERO: "相邻 token 间隔的中位数必须大于零",
        Gate.TPOT_AGAINST_ITL: "每 token 时间与相邻 token 间隔必须在同一量级",
        Gate.VALUE_NOT_FINITE: "所有值都必须是不小于 0 的有限数",
        Gate.PART_OF_A_RESULT: "文件必须说明请求的完成情况，其中的值才能采用",
        Gate.VALUES_AT_ODDS: "任何值都不得大于包含它的值",
        Gate.CACHE_NOT_FLUSHED: "服务必须确认已清空缓存",
        Gate.CACHE_WARM: "冷缓存单元不得命中前缀缓存",
        Gate.CONCURRENCY_NOT_REACHED: "在途请求数必须达到并发数，否则升载、收尾与失败的影响过大",
        Gate.SHORT_DURATION: "负载应持续足够长，使首尾的影响可以忽略",
        Gate.SERVER_ERRORS: "负载期间服务日志中不得有错误",
        Gate.REQUESTS_RETRACTED: "不得因显存不足而撤回运行中的请求",
        Gate.ALLOCATION_REFUSED: "负载期间不得有显存分配被拒绝",
        Gate.THROUGHPUT_FADES: "长时间负载下服务不应变慢",
        Gate.GRAPH_OFF: "在服务应使用图的情况下，每一步 decode 都必须以图运行",
        Gate.KV_CAPACITY_TOO_SMALL: "KV 缓存必须能容纳全部在途请求的最大长度",
        Gate.KV_CAPACITY_MOVED: "KV 容量必须与该版本组合的其他启动一致",
        Gate.CLIENT_BOUND: "客户端不得用满所在的核，否则节奏由客户端决定",
        Gate.SERVER_ELSEWHERE: "服务进程必须正好位于租用的卡上",
        Gate.STRANGER_ON_CARDS: "其他人不得使用租用的卡",
        Gate.CARD_THROTTLED: "负载期间任何卡都不得低于设定的频率",
        Gate.CARD_HOT: "任何卡都不得达到降频温度",
        Gate.CARD_IMBALANCE: "共同承载一个模型的卡应大致同样繁忙",
        Gate.CARD_MEMORY_CREEPS: "长时间负载下任何卡的显存占用都不应增长",
        Gate.CLOCK_JUMPED: "负载期间不得调整主机时钟",
    }
)
# The same, by the English sentence that is stored.
MUST_ZH: Mapping[str, str] = MappingProxyType(
    {sentence: MUST[gate] for gate, sentence in SENTENCES.items()}
)

# What stands behind "observed" and "required": never looked for elsewhere, so short.
SEEN_EN: Mapping[str, str] = MappingProxyType(
    {
        "completed": "{count} completed",
        "at least": "at least {limit}",
        "at least or": "at least {ratio}, or at least {other}",
        "at least share": "at least {ratio}, which is {share} of {count}",
        "at most": "at most {limit}",
        "at most the server's": "at most the server's {count}, within {slack}",
        "below": "below {limit}",
        "within": "within {limit}",
        "more than": "more than {limit}",
        "range": "{low} to {high}",
        "range within": "{low} to {high}, within {slack}",
        "figure within": "{figure}, within {slack}",
        "zeros": "0.0 in every value",
        "above zero": "values above 0",
        "not finite": "NaN, infinity or less than 0 in {names}",
        "not finite more": "NaN, infinity or less than 0 in {names} and {count} more",
        "finite": "finite numbers from 0 on",
        "values alone": "values alone",
        "count of requests": "a count of requests",
        "against": "{part} s against {whole} s",
        "turned": "the other way round",
        "tokens": "{count} tokens",
        "tokens in text": "{count} tokens in the text",
        "text": "{share} of the tokens in the text, {ratio} of the gap per token",
        "ratio": "a ratio of {ratio}",
        "ratios": "a ratio of {ratio} and {other}",
        "hit ratio": "a hit ratio of {ratio}",
        "in flight": "{figure} in flight",
        "no confirmation": "no confirmation",
        "200": "an answer of 200",
        "lines": "{count} lines",
        "retractions": "{count} retractions",
        "eager": "{count} decode batches without a graph",
        "by cause": "{count} by {cause}",
        "of it": "{center} ({low} to {high}) of it",
        "of a card": "{center} ({low} to {high}) of a card",
        "of a core": "{share} of a core",
        "of the clock": "{share} of the clock",
        "memory": "{share} of a card's memory in use before the launch",
        "busy": "{low} and {high} busy",
        "least busy": "the least busy at {share} of the busiest",
        "exit code": "exit code {code}",
        "one result": "exit code 0 and one result",
        "one": "one",
        "none": "none",
        "nobody": "nobody",
    }
)
SEEN_ZH: Mapping[str, str] = MappingProxyType(
    {
        "completed": "完成 {count} 个",
        "at least": "至少 {limit}",
        "at least or": "至少 {ratio}，或至少 {other}",
        "at least share": "至少 {ratio}，即 {count} 的 {share}",
        "at most": "至多 {limit}",
        "at most the server's": "至多为服务统计的 {count}，误差 {slack} 以内",
        "below": "低于 {limit}",
        "within": "{limit} 以内",
        "more than": "大于 {limit}",
        "range": "{low} 至 {high}",
        "range within": "{low} 至 {high}，误差 {slack} 以内",
        "figure within": "{figure}，误差 {slack} 以内",
        "zeros": "所有值均为 0.0",
        "above zero": "大于 0 的值",
        "not finite": "{names} 为 NaN、无穷或小于 0",
        "not finite more": "{names} 以及另外 {count} 项为 NaN、无穷或小于 0",
        "finite": "不小于 0 的有限数",
        "values alone": "只有数值",
        "count of requests": "请求数",
        "against": "{part} s，而 {whole} s",
        "turned": "相反的大小关系",
        "tokens": "{count} 个 token",
        "tokens in text": "文本中 {count} 个 token",
        "text": "文本 token 数为计数的 {share}，每 token 时间为间隔的 {ratio}",
        "ratio": "比值 {ratio}",
        "ratios": "比值 {ratio} 与 {other}",
        "hit ratio": "命中率 {ratio}",
        "in flight": "在途 {figure}",
        "no confirmation": "没有确认",
        "200": "返回 200",
        "lines": "{count} 行",
        "retractions": "撤回 {count} 次",
        "eager": "{count} 个 decode 批次未用图",
        "by cause": "{count} 次为{cause}",
        "of it": "变化 {center}（{low} 至 {high}）",
        "of a card": "变化占一张卡的 {center}（{low} 至 {high}）",
        "of a core": "{share} 个核",
        "of the clock": "设定频率的 {share}",
        "memory": "启动前一张卡的显存已占用 {share}",
        "busy": "利用率 {low} 与 {high}",
        "least busy": "最闲的卡达到最忙的卡的 {share}",
        "exit code": "退出码 {code}",
        "one result": "退出码 0 且有一个结果",
        "one": "有",
        "none": "无",
        "nobody": "无人",
    }
)
CAUSES_ZH: Mapping[str, str] = MappingProxyType(
    {
        "plain shortage": "显存不足",
        "fragmentation": "碎片化",
        "a cause that is not told": "未知原因",
    }
)
