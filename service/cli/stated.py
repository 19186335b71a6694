"""What a person states in an option, held to the shape the service takes before it is sent."""

from datetime import UTC, datetime, timedelta

import typer
from pydantic import TypeAdapter, ValidationError

# No tool read here is older; archives that keep no times say 1970 or 1980.
EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)
# Clocks of two hosts differ, and a date alone may be tomorrow's elsewhere.
AHEAD = timedelta(days=1)


def checked(shape: TypeAdapter[str], option: str, text: str | None) -> str | None:
    """Return an option's text as the service takes it. Raises BadParameter."""
    if text is None:
        return None
    try:
        return shape.validate_python(text)
    except ValidationError as error:
        raise typer.BadParameter(f"{option}: {error.errors()[0]['msg']}") from error


def require_time(measured_at: datetime, *, now: datetime, of: str) -> datetime:
    """Return when something was measured. Raises BadParameter where nothing was measured then.

    of: whose time it is, for the sentence.
    """
    if EARLIEST <= measured_at <= now + AHEAD:
        return measured_at
    when = "in the future" if measured_at > now else f"before {EARLIEST:%Y}"
    raise typer.BadParameter(
        f"{of} is {measured_at:%Y-%m-%d}, {when}: say --measured-at as it was, in UTC"
    )
