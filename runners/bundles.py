"""Makes a bundle for a site without a network: `python -m runners.bundles`, child of the CLI.

stdin: a question; stdout: its answer, one JSON document each. With a folder as its argument it
makes an unpacked bundle ready instead. stderr is for the person who waits.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from pydantic import ValidationError

from runners.config import Settings
from runners.stacks import bundle_parts
from runners.stacks.bundle import BundleDamagedError, TooNewError, packed, ready, unpacked
from runners.stacks.bundle_parts import PackingError
from runners.stacks.elf import RunPathError
from runners.stacks.environment import BUILD_ERRORS, Recipe, base_python, build
from service.formats.bundles import BundleMade, BundleQuestion
from service.formats.wrong_settings import told

REFUSED = (PackingError, TooNewError, RunPathError, BundleDamagedError, OSError, *BUILD_ERRORS)


def main() -> int:
    """Answer the question on stdin, or make the bundle that the arguments name ready."""
    try:
        if sys.argv[1:]:
            return _load(*map(Path, sys.argv[1:]))
        question = BundleQuestion.model_validate_json(sys.stdin.buffer.read())
        sys.stdout.write(_made(question, Settings()).model_dump_json())
    except ValidationError as error:
        sys.stderr.write(f"kunline: this question is wrong:\n{told(error)}\n")
        return 2
    except REFUSED as error:
        sys.stderr.write(f"kunline: {error}\n")
        return 1
    return 0


def _load(bundle: Path, into: Path | None = None) -> int:
    root = bundle if into is None else unpacked(bundle, into)
    sys.stdout.write(ready(root.absolute()).model_dump_json(exclude={"files"}))
    return 0


def _made(question: BundleQuestion, settings: Settings) -> BundleMade:
    recipes = [Recipe(each.lock, each.torch, each.platform) for each in question.environments]
    built = [
        build(recipe, cache=settings.cache_dir, variables=os.environ, progress=_say)
        for recipe in recipes
    ]
    out = Path(question.out).absolute()
    with tempfile.TemporaryDirectory(prefix=".kunline-bundle-", dir=out.parent) as work:
        tree = Path(work)
        _say("copying a Python and installing the runner into it", None)
        base = Path(question.python) if question.python else base_python()
        python = bundle_parts.own_python(tree, base)
        bundle_parts.runner(python, Path(question.checkout), variables=os.environ)
        shutil.copytree(question.matrix, tree / "matrix")
        bundle_parts.scripts(tree, python)
        _say("packing", None)
        environments = {each.digest: each.root for each in built}
        manifest, needs = packed(tree, environments, out, python=python, glibc=question.glibc)
    return BundleMade(
        path=str(out),
        size_bytes=out.stat().st_size,
        files=len(manifest.files),
        glibc=manifest.glibc,
        needs=dict(needs),
        environments=manifest.environments,
    )


def _say(text: str, _fraction: float | None) -> None:
    sys.stderr.write(f"kunline: {text}\n")


if __name__ == "__main__":
    sys.exit(main())
