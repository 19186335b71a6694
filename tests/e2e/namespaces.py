"""Hosts in network namespaces of their own, each with one link to this one that can be cut."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

NAME = "kunline{pid}{letter}"


@dataclass(frozen=True, slots=True)
class NetworkHost:
    """One of them. near: this side's address, as the host reaches it. link: this side's end."""

    name: str
    near: str
    link: str

    def command(self, *words: str) -> tuple[str, ...]:
        """Return what runs a program on this host."""
        return ("ip", "netns", "exec", self.name, *words)

    def cut(self) -> None:
        """Cut it off: nothing arrives and nobody is told."""
        _ip("link", "set", self.link, "down")

    def mend(self) -> None:
        """Join it again."""
        _ip("link", "set", self.link, "up")


@contextmanager
def network_host(letter: str, number: int) -> Iterator[NetworkHost]:
    """Make a host on 10.231.NUMBER.0/30, and take it away."""
    name = NAME.format(pid=os.getpid(), letter=letter)
    near, far = f"10.231.{number}.1", f"10.231.{number}.2"
    # No longer than 15 characters.
    link, other = f"kl{letter}n{os.getpid() % 10**6}", f"kl{letter}f{os.getpid() % 10**6}"
    _ip("netns", "add", name)
    try:
        _ip("link", "add", link, "type", "veth", "peer", "name", other, "netns", name)
        _ip("addr", "add", f"{near}/30", "dev", link)
        _ip("link", "set", link, "up")
        for words in (
            ("addr", "add", f"{far}/30", "dev", other),
            ("link", "set", other, "up"),
            ("link", "set", "lo", "up"),
        ):
            _ip("-n", name, *words)
        yield NetworkHost(name, near, link)
    finally:
        subprocess.run(["ip", "link", "del", link], check=False, capture_output=True)
        _ip("netns", "del", name)


@contextmanager
def lonely_host(letter: str) -> Iterator[str]:
    """Make a host that reaches nobody but itself, give its name, and take it away."""
    name = NAME.format(pid=os.getpid(), letter=letter)
    _ip("netns", "add", name)
    try:
        _ip("-n", name, "link", "set", "lo", "up")
        yield name
    finally:
        _ip("netns", "del", name)


def obstacle() -> str:
    """Return why no such host can be made here, or nothing."""
    if shutil.which("ip") is None:
        return "there is no `ip` here: install iproute2"
    name = NAME.format(pid=os.getpid(), letter="t")
    made = subprocess.run(["ip", "netns", "add", name], check=False, capture_output=True, text=True)
    if made.returncode != 0:
        return f"no network namespace may be made here: {made.stderr.strip()}"
    _ip("netns", "del", name)
    return ""


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
