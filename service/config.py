"""Settings, read once from the environment by each entry point and passed on as values."""

import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    ValidationError,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from service.domain.confirm import EACH, NIGHTLY, Budget, Cost
from service.domain.job import Leasing
from service.formats.data_folder import data_home, embedded_database
from service.formats.wrong_settings import told

# Beside the two packages: in a checkout `./dev web` puts it there, an installed wheel brings it.
WEB_DIR = Path(__file__).resolve().parents[1] / "web/dist"


def read_settings() -> "Settings":
    """Return the settings of this process, or end it with 2 and a sentence a wrong variable."""
    try:
        return Settings()
    except ValidationError as error:
        sys.stderr.write(f"kunline: these settings are wrong:\n{told(error)}\n")
        raise SystemExit(2) from None


class Settings(BaseSettings):
    """Everything an operator may set for the service. Each name is KUNLINE_<FIELD>."""

    model_config = SettingsConfigDict(env_prefix="KUNLINE_", frozen=True, extra="forbid")

    data_dir: Path = Field(
        default_factory=data_home, description="Where artefacts and the embedded database lie."
    )
    database_url: str = Field(
        default="", description="postgresql://… or sqlite:///…; empty: a SQLite file in data_dir."
    )
    broker_url: str = Field(
        default="", description="redis://…; empty: no nudges, runners ask by themselves."
    )
    host: str = Field(default="127.0.0.1", description="Address the API listens on.")
    port: int = Field(default=8000, ge=1, le=65535)
    public_url: str = Field(
        default="",
        pattern=r"^(https?://[^\s]+)?$",
        description="Where people open the dashboard; empty: notifications have no links.",
    )
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Host names a request may name besides loopback, by commas."
    )
    workers: PositiveInt = Field(default=1, description="Processes of the API.")
    web_dir: Path = Field(default=WEB_DIR, description="The built dashboard.")
    lease_s: PositiveFloat = Field(default=45.0, description="A job unheard of so long is lost.")
    attempts_max: PositiveInt = Field(default=3, description="Tries before a job is given up.")
    sweep_every_s: PositiveFloat = Field(default=5.0, description="How often leases are looked at.")
    resend_after_s: PositiveFloat = Field(
        default=60.0, description="A job queued so long is announced to its runners again."
    )
    confirm: bool = Field(default=True, description="Measure suspicions again without being asked.")
    confirm_night_launches: NonNegativeInt = Field(
        default=NIGHTLY.launches, description="Launches of all confirms in 24 hours."
    )
    confirm_night_card_s: NonNegativeFloat = Field(
        default=NIGHTLY.card_s, description="Card-seconds of all confirms in 24 hours."
    )
    confirm_launches: NonNegativeInt = Field(
        default=EACH.launches, description="Launches spent on one event at most."
    )
    confirm_card_s: NonNegativeFloat = Field(
        default=EACH.card_s, description="Card-seconds spent on one event at most."
    )
    request_bytes_max: PositiveInt = Field(
        default=32 * 2**20, description="The largest request body that is read."
    )
    database_connections: PositiveInt = Field(default=10, description="Of each process.")

    @model_validator(mode="before")
    @classmethod
    def _host_names_by_commas(cls, given: dict[str, object]) -> dict[str, object]:
        names = given.get("allowed_hosts")
        if not isinstance(names, str):
            return given
        split = tuple(name.strip() for name in names.split(",") if name.strip())
        return {**given, "allowed_hosts": split}

    @model_validator(mode="after")
    def _database_is_known(self) -> Self:
        if not self.database.startswith(("sqlite:///", "postgresql://", "postgresql+psycopg://")):
            raise ValueError("database_url begins with postgresql:// or sqlite:///")
        return self

    @property
    def database(self) -> str:
        """The database's URL: the one set, or the file in data_dir."""
        return self.database_url or embedded_database(self.data_dir)

    @property
    def leasing(self) -> Leasing:
        """How long claims last and how often a job is tried."""
        return Leasing(timedelta(seconds=self.lease_s), self.attempts_max)

    @property
    def budget(self) -> Budget:
        """What confirms may cost, and whether they begin by themselves."""
        return Budget(
            night=Cost(self.confirm_night_launches, self.confirm_night_card_s),
            each=Cost(self.confirm_launches, self.confirm_card_s),
            automatic=self.confirm,
        )
