"""The API's process: what is looked at before it listens, and how it listens."""

import argparse
import gc
import socket
import sys

import uvicorn
from sqlalchemy.exc import OperationalError
from uvicorn.supervisors import Multiprocess

from service.api.access import names_beyond
from service.config import Settings, read_settings
from service.store import schema, tokens
from service.store.database import create_database, reading, words_of
from service.store.schema import SchemaError

GRACE_S = 10
# Longer than a runner waits between two calls, so that each has one connection.
KEEP_ALIVE_S = 75
BACKLOG = 2048


class NoTokenError(PermissionError):
    """The service would listen beyond this machine with nobody asked who they are."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"{host} can be reached from other machines, and no API token is stored. "
            "Make the first one with: kunline token create NAME --scope admin"
        )


class CannotListenError(OSError):
    """The address is taken, or is not this machine's."""

    def __init__(self, host: str, port: int, error: OSError) -> None:
        super().__init__(f"cannot listen at {host}:{port}: {error.strerror or error}")


def main() -> int:
    """Serve until a signal says otherwise.

    Return 2 where that must not be begun, and 1 where database or address are not to be had.
    """
    asked = _asked()
    settings = read_settings()
    if asked.workers is not None:
        settings = settings.model_copy(update={"workers": asked.workers})
    try:
        _prepare(settings, migrate=asked.migrate)
        _serve(settings)
    except (NoTokenError, SchemaError) as error:
        sys.stderr.write(f"kunline: {error}\n")
        return 2
    except CannotListenError as error:
        sys.stderr.write(f"kunline: {error}\n")
        return 1
    except OperationalError as error:
        sys.stderr.write(f"kunline: the database does not answer: {words_of(error)}\n")
        return 1
    return 0


def _serve(settings: Settings) -> None:
    config = uvicorn.Config(
        "service.api.app:from_settings",
        factory=True,
        workers=settings.workers,
        timeout_graceful_shutdown=GRACE_S,
        timeout_keep_alive=KEEP_ALIVE_S,
        access_log=False,
        log_level="warning",
    )
    server = uvicorn.Server(config)
    with _listening(settings.host, settings.port) as listener:
        if settings.workers > 1:
            # The application is made in each worker alone, and this process goes on as it is.
            gc.enable()
            Multiprocess(config, sockets=[listener]).run()
        else:
            server.run(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    """Return a listening socket whose connections send at once. Raises CannotListenError.

    Where uvicorn's processes share a socket it leaves Nagle's algorithm on, and every answer,
    being two packets, then waits 40 ms for the caller's acknowledgement. Linux hands the option
    down to each connection.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise CannotListenError(host, port, error) from error
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.set_inheritable(True)
    return listener


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m service.api", description="The API.")
    parser.add_argument("--migrate", action="store_true", help="bring the schema up first")
    parser.add_argument("--workers", type=int, help="processes; by default KUNLINE_WORKERS or 1")
    return parser.parse_args()


def _prepare(settings: Settings, *, migrate: bool) -> None:
    """Bring an embedded database up, and refuse what must not be begun."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    engine = create_database(settings.database, connections=1)
    try:
        schema.prepare(engine, migrate=migrate)
        beyond = names_beyond(settings)
        with reading(engine) as session:
            if beyond and not tokens.any_stored(session):
                raise NoTokenError(", ".join(sorted(beyond)))
    finally:
        engine.dispose()
