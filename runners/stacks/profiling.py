"""What a server needs so that its own profiler can be started: laid beside it for one launch."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from runners.stacks.overlay import PATH, path_before

PLUGIN = "kunline_profiling"
INSIDE = Path(__file__).parent / "inside" / f"{PLUGIN}.py"
# SGLang loads only the plugins that this names, where it names any.
CHOSEN = "SGLANG_PLUGINS"
_METADATA = f"Metadata-Version: 2.1\nName: {PLUGIN.replace('_', '-')}\nVersion: 1\n"
_ENTRY = f"[sglang.srt.plugins]\n{PLUGIN} = {PLUGIN}:fill_in\n"


def with_profiling(
    variables: Mapping[str, str], python: Path, *, folder: Path
) -> Mapping[str, str]:
    """Return a server's variables with which it finds the plugin, in a folder below its launch's.

    An environment or image stays as it is. variables: of the launch. python: the measured one.
    Raises OverlayError where it does not tell its path.
    """
    root = folder / "profiling"
    named = root / f"{PLUGIN}-1.dist-info"
    named.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(INSIDE, root / INSIDE.name)
    (named / "METADATA").write_text(_METADATA, encoding="utf-8")
    (named / "entry_points.txt").write_text(_ENTRY, encoding="utf-8")
    path = os.pathsep.join(filter(None, (str(root), path_before(python, variables))))
    chosen = variables.get(CHOSEN)
    also = {} if not chosen else {CHOSEN: f"{chosen},{PLUGIN}"}
    return {**variables, PATH: path, **also}
