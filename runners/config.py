"""The runner's settings, read once from the environment by its entry point."""

import os
import re
import socket
import tempfile
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PositiveFloat, PositiveInt, SecretStr
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from runners.preflight.limits import REST_C, HostLimits
from service.domain.window import Window, window
from service.formats.identities import Name


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "kunline"


def _spool() -> Path:
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "kunline" / "spool"


def _host() -> str:
    """Return this host's name as names are written."""
    return re.sub(r"[^A-Za-z0-9._+=-]", "-", socket.gethostname()).lstrip("._+=-") or "host"


def _window(text: object) -> Window | None:
    return window(str(text)) if text else None


Folder = Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute())]


class Settings(BaseSettings):
    """Everything an operator may set. Each name is KUNLINE_<FIELD> in the environment."""

    model_config = SettingsConfigDict(env_prefix="KUNLINE_", frozen=True, extra="forbid")

    url: str = Field(default="http://127.0.0.1:8000", description="Where the service is.")
    token: SecretStr | None = Field(default=None, description="API token with the scope ingest.")
    broker_url: SecretStr = Field(
        default=SecretStr(""), description="redis://…; empty: the runner only asks by itself."
    )
    pool: Name = "local"
    # Not KUNLINE_HOST: that is the address the service listens on.
    host_name: Name = Field(default_factory=_host)
    runner: Name | None = Field(default=None, description="By default the host's and chip's names.")
    chip: Name = "cpu"
    registry: str = Field(
        default="", description="Where images are taken from; empty: those on this host alone."
    )
    cards: PositiveInt | None = Field(default=None, description="By default all cards there are.")
    cache_dir: Folder = Field(default_factory=_cache, description="Environments and launches.")
    spool_dir: Folder = Field(default_factory=_spool, description="Reports on their way.")
    lock_dir: Folder = Field(
        default_factory=lambda: Path(tempfile.gettempdir()) / "kunline-cards",
        description="One lock a card, the same folder for all runners of a host.",
    )
    poll_s: PositiveFloat = Field(default=5.0, description="How often work is asked for unnudged.")
    renew_s: PositiveFloat = Field(default=10.0, description="How often the lease is renewed.")
    cards_wait_s: float = Field(
        default=30.0, ge=0, description="How long taken cards are waited for."
    )
    deliver_s: PositiveFloat = Field(
        default=300.0, description="How long reports are tried to be sent before a job is let go."
    )
    rest_c: PositiveFloat = Field(
        default=REST_C, description="A card that is as hot before any load is not measured on."
    )
    link_bytes_s: float | None = Field(
        default=None, ge=0, description="Slower collectives are broken; by default the chip's own."
    )
    patience: PositiveFloat = Field(
        default=1.0, description="By how much the limit of every layer's check is multiplied."
    )
    allocated: str = Field(
        default="", description="Cards that an outer allocation gives us, by commas; else Slurm's."
    )
    window: Annotated[Window | None, NoDecode, BeforeValidator(_window)] = Field(
        default=None, description="When jobs may begin: 22:00-06:00 Asia/Shanghai; else always."
    )
    log_format: Literal["text", "json"] = "text"

    @property
    def limits(self) -> HostLimits:
        """What this host is held to where nothing is published."""
        return HostLimits(self.rest_c, self.link_bytes_s, self.patience)

    @property
    def name(self) -> str:
        """The runner's name: the same in each of its lives."""
        return self.runner or f"{self.host_name}-{self.chip}"
