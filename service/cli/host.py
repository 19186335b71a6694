"""`kunline host …`: the runners on the hosts; list them, pause, drain and resume them."""

import typer

from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.tables import print_table
from service.formats.runners import RunnerRead, RunnerState

hosts = typer.Typer(no_args_is_help=True, help="Hosts and their runners: list, pause, drain.")


@hosts.command("list")
def list_hosts(url: Url = DEFAULT_URL, token: Token = None, *, json: AsJson = False) -> None:
    """List every runner the service has heard of.

    Example: kunline host list
    """
    with service(url, token) as client:
        _print(client.runners(), json=json)


@hosts.command()
def pause(
    runner: str, url: Url = DEFAULT_URL, token: Token = None, *, json: AsJson = False
) -> None:
    """Give a runner no further job until it is resumed; its present one goes on.

    Example: kunline host pause p800-01
    """
    _set(runner, "paused", url, token, json=json)


@hosts.command()
def drain(
    runner: str, url: Url = DEFAULT_URL, token: Token = None, *, json: AsJson = False
) -> None:
    """Let a runner finish its job, then give it none: before an upgrade of its host.

    Example: kunline host drain p800-01
    """
    _set(runner, "draining", url, token, json=json)


@hosts.command()
def resume(
    runner: str, url: Url = DEFAULT_URL, token: Token = None, *, json: AsJson = False
) -> None:
    """Let a paused or drained runner work again.

    Example: kunline host resume p800-01
    """
    _set(runner, "active", url, token, json=json)


def _set(runner: str, state: RunnerState, url: str, token: str | None, *, json: bool) -> None:
    with service(url, token) as client:
        _print((client.set_runner_state(runner, state),), json=json)


def _print(found: tuple[RunnerRead, ...], *, json: bool) -> None:
    if json:
        typer.echo("[" + ",".join(runner.model_dump_json() for runner in found) + "]")
        return
    if not found:
        typer.echo("No runner has been heard of: `kunline runner` starts one on its host.")
        return
    header = ("runner", "host", "pool", "chips", "cards", "state", "release", "job", "seen at")
    rows = [
        (
            runner.name,
            runner.host,
            runner.pool,
            ", ".join(runner.chips),
            str(runner.cards),
            runner.state,
            runner.version,
            str(runner.job_id or "-"),
            f"{runner.seen_at:%Y-%m-%d %H:%M:%S} UTC",
        )
        for runner in found
    ]
    print_table(header, rows)
