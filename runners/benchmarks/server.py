"""The few requests we send to a server ourselves: a probe, a flush, a warm-up, questions."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx

from service.client import NOBODY

# Token ids that every tokenizer of a real model has, away from the special ones at the start.
FIRST_ID = 10
ID_COUNT = 200

FLUSH_TRIES = 10
FLUSH_PAUSE_S = 0.2
METRICS_LIMIT_S = 10.0
# A path was renamed in 0.5.10; the older one answers for servers before it.
SERVER_INFO_PATHS = ("/server_info", "/get_server_info")


class ServerSilentError(ConnectionError):
    """The server does not answer any more."""

    def __init__(self, path: str, error: Exception) -> None:
        super().__init__(f"{path}: {type(error).__name__}: {error}")


class ServerRefusedError(ValueError):
    """The server answered a request with an error."""

    def __init__(self, path: str, response: httpx.Response) -> None:
        self.status = response.status_code
        super().__init__(f"{path} answered {response.status_code}: {response.text[:300]}")


class Server:
    """One SGLang server, asked over HTTP."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def healthy(self) -> bool:
        """Return whether the server says that it is up."""
        try:
            return self._http.get("/health", timeout=10.0).is_success
        except httpx.TransportError:
            return False

    def info(self) -> dict[str, Any]:
        """Return what the server says of itself. Raises ServerSilentError, ServerRefusedError."""
        newer, older = SERVER_INFO_PATHS
        try:
            told = self._asked("GET", newer)
        except ServerRefusedError as error:
            if error.status != httpx.codes.NOT_FOUND:
                raise
            told = self._asked("GET", older)
        return dict(told)

    def counters(self) -> str | None:
        """Return the server's metrics as text; None where it does not offer them."""
        try:
            response = self._http.get("/metrics", follow_redirects=True, timeout=METRICS_LIMIT_S)
        except httpx.TransportError:
            return None
        return response.text if response.is_success else None

    def flush(self) -> int:
        """Empty the prefix cache and return the HTTP status; busy for a moment is tried again."""
        status = 0
        for attempt in range(FLUSH_TRIES):
            if attempt:
                time.sleep(FLUSH_PAUSE_S)
            try:
                status = self._http.post("/flush_cache").status_code
            except httpx.TransportError as error:
                raise ServerSilentError("/flush_cache", error) from error
            if status == httpx.codes.OK:
                break
        return status

    def generate(
        self, prompts: Sequence[Sequence[int]], *, output_tokens: int, **more: object
    ) -> list[dict[str, Any]]:
        """Return what the server makes of token ids, greedily, one answer a prompt.

        more: further fields of the request. Raises ServerSilentError, ServerRefusedError.
        """
        body = {
            "input_ids": [list(prompt) for prompt in prompts],
            "sampling_params": {
                "max_new_tokens": output_tokens,
                "temperature": 0.0,
                "ignore_eos": True,
            },
            **more,
        }
        answer = self._asked("POST", "/generate", body)
        return answer if isinstance(answer, list) else [answer]

    def start_profile(self, folder: str) -> None:
        """Let every rank record what it does. Raises ServerSilentError, ServerRefusedError.

        folder: as the server sees it; traces are written there when it is stopped.
        """
        body = {
            "output_dir": folder,
            "activities": ["CPU", "GPU"],
            "with_stack": False,
            "record_shapes": False,
        }
        self._answered("POST", "/start_profile", body)

    def stop_profile(self) -> None:
        """Let every rank write its trace. Raises ServerSilentError, ServerRefusedError."""
        self._answered("POST", "/stop_profile")

    def _asked(self, method: str, path: str, body: object = None) -> Any:
        return self._answered(method, path, body).json()

    def _answered(self, method: str, path: str, body: object = None) -> httpx.Response:
        try:
            response = self._http.request(method, path, json=body)
        except httpx.TransportError as error:
            raise ServerSilentError(path, error) from error
        if response.is_error:
            raise ServerRefusedError(path, response)
        return response


def ids(count: int, *, start: int = 0) -> list[int]:
    """Return that many plain token ids; another start gives another prompt."""
    return [FIRST_ID + (start + position) % ID_COUNT for position in range(count)]


@contextmanager
def asked(base_url: str, *, limit_s: float) -> Iterator[Server]:
    """Open a connection to a server. limit_s: how long one answer may take."""
    timeout = httpx.Timeout(limit_s, connect=10.0)
    with httpx.Client(base_url=base_url, timeout=timeout, trust_env=False, verify=NOBODY) as http:
        yield Server(http)
