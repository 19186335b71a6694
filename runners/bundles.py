"""Makes a bundle for a site without a network: `python -m runners.bundles`, child of the CLI.

stdin: a question; stdout: its answer, one JSON document each. With a folder as its argument it
makes an unpacked bundle ready instead. stderr is for the person who waits.
"""

import os
import shutil
import sys
import tempfile
from dataclasses import replace
from hashlib import file_digest
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from pydantic import ValidationError

from runners.config import Settings
from runners.refusal import refused, wrong
from runners.stacks import bundle_parts
from runners.stacks.bundle import (
    BundleDamagedError,
    Extras,
    TooNewError,
    packed,
    ready,
    unpacked,
)
from runners.stacks.bundle_parts import PackingError
from runners.stacks.container import EngineError
from runners.stacks.elf import RunPathError
from runners.stacks.environment import BUILD_ERRORS, Recipe, base_python, build
from runners.stacks.image_archive import ImageDamagedError
from runners.stacks.images import UnwantedImageError, loaded, packed_image
from service.formats.bundles import BundleLoaded, BundleMade, BundleQuestion, PackedPlugin

REFUSED = (
    PackingError,
    TooNewError,
    RunPathError,
    BundleDamagedError,
    ImageDamagedError,
    UnwantedImageError,
    InvalidWheelFilename,
    EngineError,
    OSError,
    *BUILD_ERRORS,
)


def main() -> int:
    """Answer the question on stdin, or make the bundle that the arguments name ready."""
    try:
        if sys.argv[1:]:
            return _load(*map(Path, sys.argv[1:]))
        question = BundleQuestion.model_validate_json(sys.stdin.buffer.read())
        sys.stdout.write(_made(question, Settings()).model_dump_json())
    except ValidationError as error:
        return wrong("this question", error)
    except REFUSED as error:
        return refused(error)
    return 0


def _load(bundle: Path, into: Path | None = None) -> int:
    root = (bundle if into is None else unpacked(bundle, into)).absolute()
    _say("verifying every file by its digest", None)
    manifest = ready(root)
    here = BundleLoaded(
        root=str(root),
        images=loaded(root, manifest.images, cache=Settings().cache_dir, variables=os.environ),
        plugins=tuple(str(root / each.place) for each in manifest.plugins),
        **manifest.model_dump(include={"kunline", "python", "machine", "glibc", "environments"}),
    )
    sys.stdout.write(here.model_dump_json())
    return 0


def _made(question: BundleQuestion, settings: Settings) -> BundleMade:
    # What is given is looked at before anything is built, which takes long.
    extras = _extras(question)
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
        pairs = zip(question.environments, built, strict=True)
        serving = {each.digest for asked, each in pairs if asked.serves}
        extras = replace(extras, clients=frozenset(environments.keys() - serving))
        manifest, needs = packed(
            tree, environments, out, python=python, glibc=question.glibc, extras=extras
        )
    there = {(each.image, each.digest) for each in extras.images}
    return BundleMade(
        path=str(out),
        size_bytes=out.stat().st_size,
        files=len(manifest.files),
        glibc=manifest.glibc,
        needs=needs.parts,
        libraries=needs.libraries,
        environments=manifest.environments,
        images=manifest.images,
        plugins=manifest.plugins,
        absent=tuple(each for each in question.wanted if (each.image, each.digest) not in there),
    )


def _extras(question: BundleQuestion) -> Extras:
    """Return the images and plugins that go along, each known by its digest."""
    files: dict[str, Path] = {}
    images = []
    for path in map(Path, question.images):
        _say(f"looking at the image in {path.name}", None)
        image = packed_image(path, question.wanted)
        images.append(image)
        files[image.place] = path
    plugins = []
    for path in map(Path, question.plugins):
        parse_wheel_filename(path.name)
        with path.open("rb") as stream:
            digest = file_digest(stream, "sha256").hexdigest()
        plugin = PackedPlugin(digest=digest, place=f"plugins/{digest}/{path.name}")
        plugins.append(plugin)
        files[plugin.place] = path
    return Extras(files, images=tuple(images), plugins=tuple(plugins))


def _say(text: str, _fraction: float | None) -> None:
    sys.stderr.write(f"kunline: {text}\n")


if __name__ == "__main__":
    sys.exit(main())
