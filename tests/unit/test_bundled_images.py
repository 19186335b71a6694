"""Images in a bundle: known by their digests, whole, and loaded by the engine that is there."""

import json
import os
import tarfile
from pathlib import Path

import pytest

from runners.stacks.container import Contained, EngineError, contained
from runners.stacks.image_archive import ImageDamagedError, images_in
from runners.stacks.images import UnwantedImageError, loaded, packed_image
from service.formats.bundles import PackedImage, WantedImage
from service.formats.identities import ContainerOrder
from tests.made_image import docker_archive, image_id, oci_archive
from tests.stand_in_engine import stand_in_engine

NAME = "vendor/p800:v1"


@pytest.fixture
def archive(tmp_path: Path) -> tuple[Path, str]:
    """Return an oci-archive and the digest of its manifest."""
    path = tmp_path / "image.tar"
    return path, oci_archive(path)


def test_an_image_is_known_by_its_manifest_and_by_its_id(archive: tuple[Path, str]) -> None:
    path, digest = archive

    (found,) = images_in(path)

    assert found.id == image_id()
    assert found.digests == {digest, image_id()}


def test_a_docker_archive_is_known_by_its_id_alone(tmp_path: Path) -> None:
    docker_archive(tmp_path / "image.tar")

    (found,) = images_in(tmp_path / "image.tar")

    assert found.digests == {image_id()}


@pytest.mark.parametrize("layout", ["oci", "docker", "half", "text", "other machine"])
def test_what_is_no_whole_image_for_this_machine_is_refused(layout: str, tmp_path: Path) -> None:
    path = tmp_path / "image.tar"
    if layout == "docker":
        docker_archive(path, kept=b"another layer")
    else:
        oci_archive(path, architecture="riscv64" if layout == "other machine" else "amd64")
    content = path.read_bytes()
    if layout == "oci":
        path.write_bytes(content.replace(b"layer\0", b"layXr\0"))
    if layout == "half":
        path.write_bytes(content[: len(content) // 3])
    if layout == "text":
        path.write_text("no archive", encoding="utf-8")

    with pytest.raises(ImageDamagedError, match=r"image\.tar"):
        images_in(path)


def test_an_archive_of_another_image_than_the_stacks_name_is_refused_with_both(
    archive: tuple[Path, str],
) -> None:
    path, digest = archive
    wanted = WantedImage(image=NAME, digest=f"sha256:{'0' * 64}")

    with pytest.raises(UnwantedImageError, match=rf"holds.*{digest}.*name {NAME}@sha256:000"):
        packed_image(path, [wanted])


def test_an_engine_takes_an_image_and_a_launch_finds_it_by_the_digest_that_its_stack_pins(
    archive: tuple[Path, str], tmp_path: Path
) -> None:
    path, digest = archive
    root, image = _bundle(tmp_path, path, digest)
    engine = stand_in_engine(tmp_path / "engine")

    for _ in range(2):
        (told,) = loaded(root, [image], cache=tmp_path / "cache", variables={"PATH": str(engine)})

    assert told.engine == "docker"
    assert _launch(tmp_path, digest, engine).image == image_id()
    calls = [json.loads(line) for line in (engine / "calls.jsonl").read_text().splitlines()]
    assert [words[0] for words in calls].count("load") == 1
    assert "pull" not in [words[0] for words in calls]


def test_an_image_that_no_bundle_brought_is_asked_of_the_registry(tmp_path: Path) -> None:
    engine = stand_in_engine(tmp_path / "engine")

    image = _launch(tmp_path, f"sha256:{'0' * 64}", engine).image

    assert image == f"vendor/p800@sha256:{'0' * 64}"


def test_an_engine_that_has_another_image_afterwards_is_told(
    archive: tuple[Path, str], tmp_path: Path
) -> None:
    path, digest = archive
    root, image = _bundle(tmp_path, path, digest)
    engine = stand_in_engine(tmp_path / "engine")
    other = image.model_copy(update={"id": f"sha256:{'0' * 64}"})

    with pytest.raises(EngineError, match="knows neither sha256:000"):
        loaded(root, [other], cache=tmp_path / "cache", variables={"PATH": str(engine)})


def test_without_an_engine_an_image_is_kept_and_pointed_to(
    archive: tuple[Path, str], tmp_path: Path
) -> None:
    path, digest = archive
    root, image = _bundle(tmp_path, path, digest)
    (tmp_path / "empty").mkdir()

    (told,) = loaded(root, [image], cache=tmp_path, variables={"PATH": str(tmp_path / "empty")})

    assert told.engine is None
    assert tarfile.is_tarfile(told.archive)


def _bundle(folder: Path, archive: Path, digest: str) -> tuple[Path, PackedImage]:
    """Lay an archive out as in an unpacked bundle."""
    image = packed_image(archive, [WantedImage(image=NAME, digest=digest)])
    place = folder / "bundle" / image.place
    place.parent.mkdir(parents=True)
    place.write_bytes(archive.read_bytes())
    return folder / "bundle", image


def _launch(folder: Path, digest: str, engine: Path) -> Contained:
    home = folder / "home"
    home.mkdir()
    return contained(
        ContainerOrder(image=NAME, digest=digest),
        launch="one",
        registry="",
        devices=(),
        home=home,
        folders=(),
        variables={"PATH": f"{engine}{os.pathsep}{os.defpath}"},
        cache=folder / "cache",
    )
