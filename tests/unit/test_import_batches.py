"""Results on their way to the service: texts without secrets, and batches that are bounded."""

import json
from hashlib import sha256

import pytest
import zstandard

from service.cli.import_batches import BATCH_BYTES, BATCH_RESULTS, Batch, text_of
from service.domain.redaction import redacted_bytes
from service.formats.reports import Artefact
from service.formats.tools.registry import read_bytes
from service.formats.tools.texts import Written
from service.usecases.keep_artefact import checked
from tests.integration.imported import result
from tests.results import lines, serving

DETAILS = [[index / 7 for index in range(200)] for _ in range(20)]


def written(**changed: object) -> Written:
    text = lines([serving(**changed)]).strip()
    return Written(read_bytes(text, file="out.jsonl").readings, text)


def content_of(text: Artefact) -> bytes:
    """Return what a service would store; it decompresses, and holds the digest to it."""
    assert checked([text])[0].digest == text.digest
    return zstandard.ZstdDecompressor().decompress(text.zstd)


def test_a_text_without_secrets_is_kept_byte_for_byte() -> None:
    found = written(itls=DETAILS)

    text = text_of(found)

    assert content_of(text) == found.text
    assert text.digest == sha256(found.text or b"").hexdigest()


@pytest.mark.parametrize("itls", [[], DETAILS], ids=["short", "with the details of each request"])
def test_secrets_are_taken_out_wherever_they_stand(itls: list[list[float]]) -> None:
    info = {"api_key": "sk-abcdefghijklmnopqrstuvwxyz", "launch": "--admin-api-key hunter2 x"}
    found = written(itls=itls, server_info=info, tag="hf_abcdefghijklmnopqrstuvwxyz")

    kept = content_of(text_of(found))

    assert kept == redacted_bytes(found.text or b"")
    assert not any(word in kept for word in (b"sk-abc", b"hunter2", b"hf_abc"))
    assert json.loads(kept)["itls"] == itls


def test_a_batch_is_full_by_the_number_of_its_results() -> None:
    batch, text = Batch(), text_of(written())
    batch.add([result(line) for line in range(1, BATCH_RESULTS)], text)
    before = batch.is_full
    batch.add([result(BATCH_RESULTS)], text)

    assert (before, batch.is_full) == (False, True)
    assert list(batch.texts) == [text.digest]


def test_a_batch_is_full_by_the_size_of_its_texts() -> None:
    batch = Batch()
    large = text_of(written()).model_copy(update={"zstd": bytes(BATCH_BYTES)})
    batch.add([result()], large)

    assert batch.is_full
