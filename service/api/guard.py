"""The guard in front of every route: names, origins, sizes and releases that are let in."""

from collections.abc import Iterable
from math import inf
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.errors import answered
from service.domain.release import ReleasesApartError, ReleaseTextError, require_near
from service.formats.problems import Problem

VERSION_HEADER = b"x-kunline-version"
# More than a body's length ever has, and fewer than Python refuses to read.
DIGITS_MAX = 18
READING = frozenset({"GET", "HEAD", "OPTIONS"})
# What a browser says of a request that our own page, or a person at the address bar, caused.
OWN = frozenset({"same-origin", "none"})


class Guard:
    """Refuses what a page of somebody else's, a far-away release or a flood would send."""

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str], body_max: int, version: str) -> None:
        self._app = app
        self._hosts = frozenset(hosts)
        self._any_host = "*" in self._hosts
        self._body_max = body_max
        self._version = version
        self._added = [
            (VERSION_HEADER, version.encode()),
            (b"x-content-type-options", b"nosniff"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it with a problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = self._with_headers(send)
        if refusal := self._refusal(scope["method"], Headers(scope=scope)):
            await answered(refusal)(scope, receive, sent)
            return
        await self._app(scope, self._bounded(receive), sent)

    def _refusal(self, method: str, headers: Headers) -> Problem | None:
        """Return why a request is not let in, or None."""
        if not self._any_host and _host_name(headers.get("host", "")) not in self._hosts:
            return _problem("HostRefusedError", "this service does not go by that host name", 421)
        if method not in READING and not _is_own(headers):
            return _problem("OriginRefusedError", "a page of another origin asked for this", 403)
        length = headers.get("content-length", "0")
        if length.isascii() and length.isdigit() and _number(length) > self._body_max:
            return self._too_large()
        return self._release_refusal(headers.get("x-kunline-version"))

    def _release_refusal(self, caller: str | None) -> Problem | None:
        if caller is None or caller == self._version:
            return None
        try:
            require_near(service=self._version, caller=caller)
        except (ReleasesApartError, ReleaseTextError) as error:
            return _problem(type(error).__name__, str(error), 400)
        except ValueError:
            # Python reads no number of more than some thousand digits.
            return _problem("ReleaseTextError", "a release has short numbers", 400)
        return None

    def _bounded(self, receive: Receive) -> Receive:
        """Return a body that is read no further than the limit, whatever length it stated."""
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._body_max:
                raise HTTPException(413, self._too_large().title)
            return message

        return counted

    def _with_headers(self, send: Send) -> Send:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self._added]
            await send(message)

        return sent

    def _too_large(self) -> Problem:
        return _problem("BodyTooLargeError", f"at most {self._body_max} bytes are read", 413)


def _host_name(host: str) -> str:
    """Return a Host header without its port."""
    if host.startswith("["):
        return host.partition("]")[0].lstrip("[").lower()
    return host.partition(":")[0].lower()


def _is_own(headers: Headers) -> bool:
    """Return whether a write was asked for by our own page, or by no page at all."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site not in OWN:
        return False
    return origin is None or _place(origin) == headers.get("host", "")


def _place(origin: str) -> str | None:
    """Return an origin's host and port; None for a text that is no origin."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _number(digits: str) -> float:
    """Return a length; one with more digits than any body has counts as endless."""
    return int(digits) if len(digits) <= DIGITS_MAX else inf


def _problem(kind: str, words: str, status: int) -> Problem:
    return Problem(type=kind, title=words, status=status)
