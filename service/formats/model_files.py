"""Model files: weights, the precision they are served in, and what they ask of a server."""

from typing import Self

from pydantic import Field, PositiveFloat, model_validator

from service.domain.condition import ServedModel
from service.domain.server_arguments import Argument
from service.formats.identities import Key, Name
from service.formats.messages import Message
from service.formats.orders import ModelOrder
from service.formats.server_sections import ServerSection

# Stands for the digest of weights that were not staged yet; it never travels in an order.
UNKNOWN_DIGEST = "unknown"


class ModelFile(Message):
    """A model. maker: arguments of the maker of a small seeded model. path: where it is staged.

    A model whose digests are not known can be planned with, and not measured.
    start_s: what loading it until the server answers is expected to take, in seconds.
    """

    name: Name
    id: str = Field(min_length=1, max_length=200)
    maker: dict[str, Argument] | None = None
    path: str | None = None
    weights_digest: Key | None = None
    tokenizer_digest: Key | None = None
    quantization: str = "none"
    dtype: str
    kv_dtype: str = "auto"
    server: ServerSection = ServerSection()
    start_s: PositiveFloat = 120.0

    @model_validator(mode="after")
    def _has_one_origin(self) -> Self:
        if self.maker is not None and self.path is not None:
            raise ValueError("a model has a maker or a path, not both")
        return self

    @property
    def served(self) -> ServedModel:
        """The model as a condition holds it."""
        return ServedModel(
            id=self.id,
            weights_digest=self.weights_digest or UNKNOWN_DIGEST,
            quantization=self.quantization,
            dtype=self.dtype,
            kv_dtype=self.kv_dtype,
        )

    @property
    def obstacle(self) -> str | None:
        """Why no runner can serve it yet, or None."""
        if self.weights_digest is None or self.tokenizer_digest is None:
            return "its weights or its tokenizer were not staged: their digests are not known"
        if self.maker is None and self.path is None:
            return "it has neither a path nor a maker"
        return None

    def order(self) -> ModelOrder:
        """Return the model as a runner is asked for it. Raises ValidationError with an obstacle."""
        return ModelOrder.model_validate(
            {
                "id": self.id,
                "weights_digest": self.weights_digest,
                "tokenizer_digest": self.tokenizer_digest,
                "path": self.path,
                "maker": self.maker,
            }
        )
