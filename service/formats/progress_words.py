"""What a runner says that it does, in both languages with equal keys; consoles stay as they are."""

from collections.abc import Mapping
from types import MappingProxyType

EN: Mapping[str, str] = MappingProxyType(
    {
        "room": "waiting for another runner of this host, whose job runs on",
        "looking": "looking for what is built already",
        "programs": "looking for the {kind}'s programs",
        "model": "making the model",
        "ready": "environment {digest} is ready",
        "empty": "making an empty environment",
        "asking": "torch {torch}: asking pip which build it would serve",
        "locked": "torch: {torch}; now the locked packages",
        "platform": "building the platform {platform}",
        "installing": "installing {wheels}",
        "another": "waiting for another runner, which builds the same environment",
        "laying": "laying {wheels} over {python}",
        "checking": "checking {layer}",
        "starting": "starting the server",
        "waiting": "waiting for the server, {waited} s",
        "probing": "probing the exact lengths",
        "repeat": "cell {cell} of {of}, repeat {repeat}",
        "profiler": "cell {cell} of {of} under the profiler",
        "stopping": "stopping the server",
    }
)
ZH: Mapping[str, str] = MappingProxyType(
    {
        "room": "等待本机另一个执行器的作业结束",
        "looking": "查找已构建的内容",
        "programs": "查找 {kind} 的程序",
        "model": "生成模型",
        "ready": "环境 {digest} 已就绪",
        "empty": "创建空环境",
        "asking": "torch {torch}：向 pip 询问会提供哪个构建",
        "locked": "torch：{torch}；正在安装锁定的软件包",
        "platform": "构建平台插件 {platform}",
        "installing": "安装 {wheels}",
        "another": "等待另一个执行器构建同一环境",
        "laying": "将 {wheels} 覆盖到 {python}",
        "checking": "检查{layer}层",
        "starting": "启动服务",
        "waiting": "等待服务就绪，{waited} s",
        "probing": "探测精确长度",
        "repeat": "单元 {cell}/{of}，第 {repeat} 次重复",
        "profiler": "单元 {cell}/{of}，性能剖析中",
        "stopping": "停止服务",
    }
)
