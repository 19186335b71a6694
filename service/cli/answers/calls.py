"""Requests to a forge or a webhook: bounded in time, size and tries, and silent about secrets."""

import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from json import JSONDecodeError
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from service.cli.plain import plain
from service.client import LOOPBACK

TRIES = 4
FIRST_PAUSE_S = 0.5
# As long as a server may ask us to wait: a pipeline waits no longer for a comment.
PAUSE_MAX_S = 30.0
TIMEOUT_S = 20.0
# A page of a hundred comments of the largest size is a tenth of this.
ANSWER_BYTES_MAX = 64 * 2**20
# As much of a server's words as are shown.
WORDS_MAX = 300
# Answers of a server that is starting, stopping, or busy: worth another try.
PASSING = frozenset({429, 500, 502, 503, 504})
# With this header a refusal means "later".
LATER = "Retry-After"

Found = TypeVar("Found")


class Seen(BaseModel):
    """What is read of a server's answer; the rest of it is left aside."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class AwayError(ConnectionError):
    """A server could not be reached or failed; after_s is how long it asked us to wait."""

    def __init__(self, message: str, *, after_s: float | None = None) -> None:
        self.after_s = after_s
        super().__init__(message)


class RefusedError(ValueError):
    """A server refused a request; status is its own, and the message holds its own words."""

    def __init__(self, message: str, *, status: int) -> None:
        self.status = status
        super().__init__(message)


class AddressError(ValueError):
    """What was given as an address of the web is none."""


class UnsafeAddressError(AddressError):
    """A token was to be sent over a connection that others may read."""


class OddAnswerError(ValueError):
    """A server's answer is not what its documentation says it is."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Requests to one server. Its address holds no secret; the headers may."""

    http: httpx.Client

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | None = None,
        json: Mapping[str, Any] | None = None,
        form: Mapping[str, str] | None = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Return the answer to one request, with its body read.

        Raises AwayError where another try may do, and RefusedError where none will.
        """
        request = self.http.build_request(
            method, path, params=query, json=json, data=form, content=content, headers=headers
        )
        where = f"{method} {request.url.path}"
        try:
            response = self.http.send(request, stream=True)
            body = _read(response)
        except httpx.RequestError as error:
            raise AwayError(f"{where}: {type(error).__name__}: {plain(str(error))}") from error
        whole = httpx.Response(
            response.status_code, headers=_without_coding(response), content=body, request=request
        )
        _require_welcome(whole, where)
        return whole


def web_address(address: str) -> httpx.URL:
    """Return an address of the web. Raises AddressError."""
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL as error:
        raise AddressError(f"{plain(address)} is no address: {error}") from error
    if url.scheme not in {"http", "https"} or not url.host:
        raise AddressError(f"{plain(address)} is no address of the web: https://… is meant")
    return url


def require_private(address: str) -> str:
    """Return an address that a token may be sent to. Raises AddressError."""
    url = web_address(address)
    if url.scheme == "https" or (url.scheme == "http" and url.host in LOOPBACK):
        return address
    raise UnsafeAddressError(
        f"{plain(address)} is not https: a token is sent over https only, or to this machine"
    )


def opened(**settings: Any) -> httpx.Client:
    """Open a connection with our timeout; what certificates are trusted is read once a process."""
    return httpx.Client(timeout=TIMEOUT_S, verify=_trusted(), **settings)


@cache
def _trusted() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def tried(act: Callable[[], Found], *, sleep: Callable[[float], None] = time.sleep) -> Found:
    """Return what an act gives, trying it again with pauses while its server is away.

    The act is one that may be repeated: it looks for what is there before it writes.
    """
    pause_s = FIRST_PAUSE_S
    for _ in range(TRIES - 1):
        try:
            return act()
        except AwayError as error:
            sleep(min(pause_s if error.after_s is None else error.after_s, PAUSE_MAX_S))
            pause_s *= 2
    return act()


def read_as(shape: type[Found], response: httpx.Response) -> Found:
    """Return an answer in the shape that its documentation gives. Raises OddAnswerError."""
    where = f"{response.request.method} {response.request.url.path}"
    try:
        return TypeAdapter(shape).validate_json(response.content)
    except ValidationError as error:
        told = "; ".join(
            f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:3]
        )
        raise OddAnswerError(f"{where} answered otherwise than documented: {told}") from error


def _read(response: httpx.Response) -> bytes:
    body = bytearray()
    try:
        for part in response.iter_bytes():
            body += part
            if len(body) > ANSWER_BYTES_MAX:
                where = f"{response.request.method} {response.request.url.path}"
                raise OddAnswerError(f"{where} answered more than {ANSWER_BYTES_MAX} bytes")
    finally:
        response.close()
    return bytes(body)


def _without_coding(response: httpx.Response) -> list[tuple[str, str]]:
    """Return the headers of an answer whose body is decoded by now."""
    done = {"content-encoding", "content-length", "transfer-encoding"}
    return [(name, value) for name, value in response.headers.multi_items() if name not in done]


def _require_welcome(response: httpx.Response, where: str) -> None:
    status = response.status_code
    if response.is_success:
        return
    after = response.headers.get(LATER)
    message = f"{where} answered {status}: {_words(response)}"
    if status in PASSING or (status == httpx.codes.FORBIDDEN and after is not None):
        raise AwayError(message, after_s=float(after) if after and after.isdigit() else None)
    if response.is_redirect:
        message = f"{where} answered {status}: it lies elsewhere, and redirects are not followed"
    raise RefusedError(message, status=status)


def _words(response: httpx.Response) -> str:
    """Return a server's own words about a refusal, in one short line."""
    try:
        told = response.json()
    except (JSONDecodeError, UnicodeDecodeError):
        told = None
    message = told.get("message") if isinstance(told, dict) else None
    text = message if isinstance(message, str) else response.text
    return plain(" ".join(text.split()))[:WORDS_MAX] or "(no words)"
