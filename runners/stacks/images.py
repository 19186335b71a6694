"""Images that travel as archives: which stack each is for, and how they get into an engine."""

from collections.abc import Mapping, Sequence
from hashlib import file_digest
from pathlib import Path

from runners.stacks.container import (
    PULL_LIMIT_S,
    EngineError,
    asked,
    engine_on,
    is_here,
    loaded_note,
)
from runners.stacks.image_archive import images_in
from service.formats.bundles import LoadedImage, PackedImage, WantedImage

PLACE = "images"


class UnwantedImageError(ValueError):
    """An archive holds none of the images that the plans' stacks name."""

    def __init__(self, path: Path, digests: Sequence[str], wanted: Sequence[WantedImage]) -> None:
        named = ", ".join(f"{each.image}@{each.digest}" for each in wanted) or "none at all"
        super().__init__(
            f"{path} holds {', '.join(digests)}, and the plans' stacks name {named}: save the "
            "image by that digest into an oci-archive, which keeps it, or pin the id in the stack"
        )


def packed_image(path: Path, wanted: Sequence[WantedImage]) -> PackedImage:
    """Return which of the wanted images an archive holds, after a look at all of it.

    Raises UnwantedImageError and ImageDamagedError.
    """
    found = images_in(path)
    for each in wanted:
        for image in found:
            if each.digest in image.digests:
                with path.open("rb") as stream:
                    name = file_digest(stream, "sha256").hexdigest()
                return PackedImage(
                    image=each.image, digest=each.digest, id=image.id, place=f"{PLACE}/{name}.tar"
                )
    raise UnwantedImageError(path, sorted({each for one in found for each in one.digests}), wanted)


def loaded(
    root: Path, images: Sequence[PackedImage], *, cache: Path, variables: Mapping[str, str]
) -> tuple[LoadedImage, ...]:
    """Give the archives of a bundle to this host's engine and note what it calls each image.

    Where there is no engine they are kept where they lie. Raises EngineError where an engine
    does not take one, or has another image afterwards than the archive's.
    """
    try:
        engine = engine_on(variables) if images else None
    except EngineError:
        engine = None
    return tuple(_loaded(root, each, engine, cache) for each in images)


def _loaded(root: Path, image: PackedImage, engine: Path | None, cache: Path) -> LoadedImage:
    archive = root / image.place
    told = LoadedImage(image=image.image, digest=image.digest, archive=str(archive))
    if engine is None:
        return told
    if not is_here(engine, image.id):
        asked(engine, ("load", "--input", str(archive)), limit_s=PULL_LIMIT_S)
    by_digest = f"{image.image.rpartition(':')[0] or image.image}@{image.digest}"
    known = next((each for each in (image.id, by_digest) if is_here(engine, each)), None)
    if known is None:
        raise EngineError(
            f"{engine.name} took {archive} and knows neither {image.id} nor {by_digest}: look at "
            "what it calls the image, and name it so in the stack"
        )
    note = loaded_note(cache, image.digest)
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(known, encoding="utf-8")
    return told.model_copy(update={"engine": engine.name})
