"""Lets SGLang's own profiler start on a platform that does not name its activity.

Laid beside a measured environment for one profiled launch and never installed there. SGLang loads
it as a general plugin, so: the standard library and what the stack itself pins, in the syntax of
Python 3.8.

Since SGLang 0.5.18 (pull request 31580) /start_profile asks an out-of-tree platform for its torch
profiler activity. The interface's own answer is NotImplementedError, which ends the scheduler.
"""

from __future__ import annotations

import importlib
from typing import Any


def fill_in() -> None:
    """Give a platform that says nothing the activity of its device; one that does keeps its own."""
    try:
        interface = importlib.import_module("sglang.srt.platforms.device_mixin").DeviceMixin
    except ImportError:
        # A release without such platforms asks none of them, and a plugin that fails is a finding.
        return
    if hasattr(interface, "get_torch_profiler_activity_str"):
        interface.get_torch_profiler_activity_str = activity_name
        interface.get_torch_profiler_activity = activity


def activity_name(platform: Any) -> str:
    """Return the name of a platform's activity: CUDA where torch counts its cards so, else CPU."""
    return "CUDA" if getattr(platform, "device_type", "cpu") == "cuda" else "CPU"


def activity(platform: Any) -> Any:
    """Return torch's own activity of that name."""
    activities = importlib.import_module("torch").profiler.ProfilerActivity
    return getattr(activities, activity_name(platform))
