"""Emulated Python of a P800 host: a real one, in which torch is the emulated one.

Run by path: FOLDER ARGUMENTS… , the arguments being those of a Python. Only the host's own
distributions are seen inside, so that what is observed is what the host is said to have.
"""

import os
import runpy
import sys
from pathlib import Path


def main() -> None:
    """Run a script, a module or a text as Python would."""
    folder, words = Path(sys.argv[1]), sys.argv[2:]
    os.environ["EMULATED_P800"] = str(folder)
    # It runs isolated itself, and what it stands for need not.
    isolated = words[:1] == ["-I"]
    told = [] if isolated else os.environ.get("PYTHONPATH", "").split(os.pathsep)
    own = [path for path in sys.path if not path.endswith(("site-packages", "dist-packages"))]
    there = [str(folder / "site"), str(Path(__file__).parent), *own[1:]]
    sys.path[:] = [*filter(None, told), *there]
    sys.executable = str(folder / "bin" / "python")
    while words and words[0].startswith("-") and words[0] not in {"-c", "-m"}:
        words.pop(0)
    kind = words.pop(0)
    if kind == "-c":
        sys.argv = ["-c", *words[1:]]
        exec(words[0], {"__name__": "__main__"})  # noqa: S102 — it is what `python -c` does
    elif kind == "-m":
        sys.argv = words
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [kind, *words]
        if not isolated:
            sys.path.insert(0, str(Path(kind).parent))
        runpy.run_path(kind, run_name="__main__")


if __name__ == "__main__":
    main()
