"""Which database an operator means: found and named before anything is done to it."""

from pathlib import Path

from sqlalchemy import make_url

from service.config import Settings
from service.formats.data_folder import embedded_database


class NoDatabaseError(LookupError):
    """There is no database where one is looked for, and nobody asked for a new one."""

    def __init__(self, shown: str) -> None:
        super().__init__(
            f"there is no database {shown}. Name the service's: with --data-dir that of "
            "`kunline up` (or KUNLINE_DATA_DIR), else with KUNLINE_DATABASE_URL. "
            "`kunline db migrate` makes a new one"
        )


def database_of(settings: Settings, folder: Path | None) -> str:
    """Return the URL of the database that is meant. folder: --data-dir, before all settings."""
    return settings.database if folder is None else embedded_database(folder)


def shown(url: str) -> str:
    """Return a database as a person may see it: a file, or a server's name without secrets."""
    named = make_url(url)
    if named.get_backend_name() == "sqlite":
        return named.database or ":memory:"
    port = f":{named.port}" if named.port else ""
    return f"{named.database} at {named.host or 'the default host'}{port}"


def require_database(url: str) -> None:
    """Raise NoDatabaseError for a file that is not there: SQLite would make an empty one.

    A server refuses a database that it has not, in its own words.
    """
    named = make_url(url)
    if named.get_backend_name() != "sqlite" or (named.database or "").startswith("file:"):
        return
    file = Path(named.database or "")
    if not file.is_file() or not file.stat().st_size:
        raise NoDatabaseError(shown(url))


def make_folder(url: str) -> None:
    """Make the folder of a database's file, where it is a file."""
    named = make_url(url)
    if named.get_backend_name() == "sqlite" and named.database:
        Path(named.database).parent.mkdir(parents=True, exist_ok=True)
