"""Whether the service lives, and whether it can work."""

from service.formats.messages import Message


class Health(Message):
    """The process answers."""

    alive: bool


class Readiness(Message):
    """The database's schema beside the one this Kunline has migrations for."""

    ready: bool
    schema_wanted: str | None
    schema_found: str | None
