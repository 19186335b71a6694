"""Values and readings in words for a person, scaled for the eye."""

from service.cli.plain import plain
from service.domain.metric import METRICS, Unit
from service.formats.readings import UnreadableRead, ValueRead

MILLISECONDS_PER_SECOND = 1000


def percent(ratio: float) -> str:
    """Return a ratio as a signed percentage: +4.2 %, and +0.0 % for whatever rounds to nothing."""
    # Adding nothing makes of -0.0 the other zero.
    return f"{round(ratio, 3) + 0.0:+.1%}".replace("%", " %")


def share(ratio: float) -> str:
    """Return a ratio as a percentage without a sign: 3.0 %."""
    return f"{ratio:.1%}".replace("%", " %")


def scaled(value: ValueRead | None) -> str:
    """Return a value with a unit for the eye: seconds below one as milliseconds; '-' for none."""
    if value is None:
        return "-"
    if value.unit is Unit.SECOND and value.value < 1:
        return f"{value.value * MILLISECONDS_PER_SECOND:.2f} ms"
    return f"{value.value:.2f} {value.unit}"


def level(metric: str, value: float | None) -> str:
    """Return the level of a metric on one side for the eye; '-' for none."""
    return scaled(value if value is None else ValueRead(value=value, unit=METRICS[metric].unit))


def unreadable_line(unreadable: UnreadableRead) -> str:
    """Return one unreadable part as a line, with the place it stands."""
    line = "" if unreadable.line is None else f":{unreadable.line}"
    return plain(f"{unreadable.file}{line} unreadable: {unreadable.code}: {unreadable.message}")
