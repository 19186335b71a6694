"""The words of a profile, in English and Chinese; both have the same keys."""

from collections.abc import Mapping
from types import MappingProxyType

from service.cli.answers.words import Language

ENGLISH = MappingProxyType(
    {
        "none": "Nothing was profiled of this incident.",
        "title": "profile of {title} on {host}, session {session}: never judged",
        "asked": "asked by {who} at {at}: {why}",
        "nowhere": "no host yet",
        "stack": "stack",
        "stage": "stage",
        "pass": "a pass",
        "messages": "messages",
        "message": "in messages",
        "share": "share",
        "waiting": "waiting for ranks",
        "other": "scheduler's own",
        "estimated": "estimated",
        "ratio": "estimate / profiled",
        "prefill": "prefill",
        "decode": "decode",
        "unknown": "not told apart",
        "not yet": "{stack}: {state}, nothing profiled yet",
        "reason": "{stack}: {reason}",
        "no pass": "{stack}: no trace names a pass of the model",
        "pipeline": "{stack}: stage {rank} of the pipeline computes {seconds} a {stage} pass",
        "busiest": "{stack}: most time in {names}",
        "trace": "{stack}: trace {name}, {size} MiB: GET /api/v1/artefacts/{digest}",
        "left out": "{stack}: {names} too large to be kept; on the runner beside its launch",
    }
)
CHINESE = MappingProxyType(
    {
        "none": "该事件尚无性能剖析。",
        "title": "{title} 的性能剖析，主机 {host}，会话 {session}：不参与判定",
        "asked": "{who} 于 {at} 发起：{why}",
        "nowhere": "尚未分配主机",
        "stack": "版本组合",
        "stage": "阶段",
        "pass": "单次前向",
        "messages": "通信次数",
        "message": "通信耗时",
        "share": "占比",
        "waiting": "等待其他 rank",
        "other": "调度器自身通信",
        "estimated": "估算",
        "ratio": "估算 / 剖析",
        "prefill": "预填充",
        "decode": "解码",
        "unknown": "无法区分",
        "not yet": "{stack}：{state}，尚无剖析结果",
        "reason": "{stack}：{reason}",
        "no pass": "{stack}：trace 中没有标出模型前向",
        "pipeline": "{stack}：流水线第 {rank} 级每次{stage}计算 {seconds}",
        "busiest": "{stack}：耗时最多的是 {names}",
        "trace": "{stack}：trace {name}，{size} MiB：GET /api/v1/artefacts/{digest}",
        "left out": "{stack}：{names} 过大未上传，保留在执行器的启动目录中",
    }
)
CATALOGUES: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {Language.EN: ENGLISH, Language.ZH: CHINESE}
)
