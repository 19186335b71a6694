"""Answers with a tag: a page that asks again is told that nothing changed, and loads nothing.

What is told of very many runs is kept for as long as it rests on what is there, so that asking
again costs a few counts and no judgement.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from threading import Lock

from fastapi import Request, Response

from service.formats.messages import Message

TAG_BYTES = 16
# As many bytes of answers as one process keeps.
KEPT_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Told:
    """An answer's bytes and their tag."""

    content: bytes = field(repr=False)
    tag: str

    @classmethod
    def of(cls, answer: Message | str | bytes) -> "Told":
        """Return a message, or its JSON, with its tag."""
        text = answer.model_dump_json() if isinstance(answer, Message) else answer
        content = text.encode() if isinstance(text, str) else text
        return cls(content, f'"{blake2b(content, digest_size=TAG_BYTES).hexdigest()}"')


@dataclass(slots=True)
class KeptAnswers:
    """The answers asked for last, by address, each with the text that it rests on.

    One that rests on something else than what is there now counts for nothing, so none is stale.
    """

    bytes_max: int = KEPT_BYTES
    _answers: OrderedDict[str, tuple[str, Told]] = field(default_factory=OrderedDict)
    _bytes: int = 0
    _lock: Lock = field(default_factory=Lock)

    def find(self, address: str, rests_on: str) -> Told | None:
        """Return what an address was answered with, if that rests on the same."""
        with self._lock:
            known, told = self._answers.get(address, ("", None))
            if told is None or known != rests_on:
                return None
            self._answers.move_to_end(address)
            return told

    def keep(self, address: str, rests_on: str, told: Told) -> None:
        """Keep an answer in place of an older one, and let go of those asked for longest ago."""
        with self._lock:
            _, before = self._answers.pop(address, ("", None))
            self._bytes -= len(before.content) if before else 0
            if len(told.content) > self.bytes_max:
                return
            self._answers[address] = rests_on, told
            self._bytes += len(told.content)
            while self._bytes > self.bytes_max:
                _, (_, oldest) = self._answers.popitem(last=False)
                self._bytes -= len(oldest.content)


def tagged(request: Request, message: Message | str | bytes) -> Response:
    """Return a message, or its JSON, with its tag; or 304 where the caller has it already."""
    return _answer(request, Told.of(message))


def resting(request: Request, rests_on: str, tell: Callable[[], Message | str | bytes]) -> Response:
    """Return what is told at an address, as tagged() does; it is told once while it rests on that.

    rests_on: a text that is another one whenever the answer may be. Who asks is no part of it.
    """
    kept: KeptAnswers = request.app.state.kept
    address = f"{request.url.path}?{request.url.query}"
    told = kept.find(address, rests_on)
    if told is None:
        told = Told.of(tell())
        kept.keep(address, rests_on, told)
    return _answer(request, told)


def _answer(request: Request, told: Told) -> Response:
    headers = {"ETag": told.tag, "Cache-Control": "private, no-cache"}
    known = request.headers.get("if-none-match", "").removeprefix("W/")
    if known == told.tag:
        return Response(status_code=304, headers=headers)
    return Response(told.content, headers=headers, media_type="application/json")
