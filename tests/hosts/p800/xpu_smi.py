"""Emulated `xpu-smi` of a P800 host: prints the published forms (grade B), and never a real card's.

Run by path: FOLDER WORDS… . FOLDER/host.json says how many cards there are and what is wrong.
Serial numbers and UUIDs are made up.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

CLUSTER_MHZ = 1450
TOTAL_MIB = 98304
SERVED_MIB = 2048
# What a creeping server takes in each second of its life.
CREEP_MIB = 2000


def main() -> int:
    """Answer one of the five forms; any other one fails as the tool does."""
    folder, words = Path(sys.argv[1]), sys.argv[2:]
    host = json.loads((folder / "host.json").read_text(encoding="utf-8"))
    forms = {"": table, "-L": listing, "-q": query, "-m": machine, "topo -m": topology}
    form = forms.get(" ".join(words))
    if form is None:
        sys.stderr.write(f"emulated xpu-smi: unknown {words}\n")
        return 1
    cards = [each for each in range(host["cards"]) if f"missing:{each}" not in host["faults"]]
    sys.stdout.write(form(host, cards, _pids(folder)))
    return 0


def _pids(folder: Path) -> dict[int, list[int]]:
    """Return the living processes by card, as launches noted them."""
    found: dict[int, list[int]] = {}
    for note in (folder / "processes").glob("*"):
        if Path("/proc", note.name).exists():
            for card in note.read_text(encoding="utf-8").split(","):
                found.setdefault(int(card), []).append(int(note.name))
    return found


def address(card: int) -> str:
    return f"00000000:{card + 3:02x}:00.0"


def driver(host: Any) -> str:
    return "5.0.21.8" if "wrong-driver" in host["faults"] else "5.0.21.47"


def total_mib(host: Any, card: int) -> int:
    """Return a card's memory; a quarter of it where the card is a slice of one."""
    return TOTAL_MIB // 4 if f"slice:{card}" in host["faults"] else TOTAL_MIB


def hot(host: Any, card: int, loaded: bool) -> int:
    """Return the temperature; a card that is hot under load alone is cool at preflight."""
    under_load = loaded and f"hot-under-load:{card}" in host["faults"]
    return 97 if under_load or f"hot:{card}" in host["faults"] else 35


def busy(host: Any, card: int, loaded: bool) -> int:
    return (40 if f"uneven:{card}" in host["faults"] else 95) if loaded else 0


def clock_mhz(host: Any, card: int, loaded: bool) -> int:
    return 870 if loaded and f"throttled:{card}" in host["faults"] else CLUSTER_MHZ


def used_mib(host: Any, card: int, running: list[int], served: list[int]) -> int:
    """Return the memory in use; of a creeping server more with each second it lives."""
    lives_s = 0.0
    if served and f"creeping:{card}" in host["faults"]:
        ticks = float(Path(f"/proc/{served[0]}/stat").read_text().rpartition(")")[2].split()[19])
        began_s = ticks / os.sysconf("SC_CLK_TCK")
        lives_s = time.clock_gettime(time.CLOCK_BOOTTIME) - began_s
    return int(SERVED_MIB + CREEP_MIB * lives_s) if running else 0


def on_card(host: Any, card: int, pids: dict[int, list[int]]) -> list[int]:
    """Return the processes on a card, a stranger's among them; it may come with the load."""
    faults, served = host["faults"], pids.get(card, [])
    comes = served and f"stranger-under-load:{card}" in faults
    stranger = [os.getppid()] if comes or f"stranger:{card}" in faults else []
    return [*served, *stranger]


def table(host: Any, cards: list[int], pids: dict[int, list[int]]) -> str:
    version = driver(host)
    rule = "+-----------------------------------------------------------------------------+"
    lines = [
        rule,
        f"| XPU-SMI               Driver Version: {version:<12} XPU-RT Version: 5.0.21   |",
        "|-------------------------------+----------------------+----------------------+",
        "| XPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |",
        "| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | XPU-Util  Compute M. |",
        "|                               |             L3-Usage |            SR-IOV M. |",
        "|===============================+======================+======================|",
    ]
    for card in cards:
        loaded = card in pids
        used = used_mib(host, card, on_card(host, card, pids), pids.get(card, []))
        memory = f"{used:6d}MiB / {total_mib(host, card)}MiB"
        warm, share = hot(host, card, loaded), f"{busy(host, card, loaded):6d}%"
        lines += [
            f"| {card:3d}  P800 OAM           N/A   | {address(card)} N/A |                    0 |",
            f"| N/A  {warm:3d}C  N/A     87W / 400W | {memory} | {share}      Default |",
            "|                               |      0MiB /    96MiB |             Disabled |",
            "+-------------------------------+----------------------+----------------------+",
        ]
    processes = [(card, pid) for card in cards for pid in on_card(host, card, pids)]
    lines += [
        rule,
        "| Processes:                                                                  |",
        "|  XPU   XI   CI        PID   Type   Process name                  XPU Memory |",
        "|        ID   ID                                                   Usage      |",
        "|=============================================================================|",
    ]
    lines += [
        f"| {card:4d}  N/A  N/A {pid:10d}      C   emulated                         2048MiB |"
        for card, pid in processes
    ] or ["|  No running processes found                                                 |"]
    return "\n".join([*lines, rule, ""])


def uuid(card: int) -> str:
    return f"GPU-00000000-0000-4000-8000-{card:012d}"


def listing(host: Any, cards: list[int], pids: dict[int, list[int]]) -> str:
    return "".join(f"XPU {card}: P800 OAM  {uuid(card)}\n" for card in cards)


def query(host: Any, cards: list[int], pids: dict[int, list[int]]) -> str:
    head = [
        "==============XPUSMI LOG==============",
        "Timestamp                                 : Mon Nov 30 00:00:00 2026",
        f"Driver Version                            : {driver(host)}",
        "XPU-RT Version                            : 10.2",
        f"Attached XPUs                             : {len(cards)}",
    ]
    return "\n".join(head + [line for card in cards for line in _queried(host, card, pids)]) + "\n"


def _queried(host: Any, card: int, pids: dict[int, list[int]]) -> list[str]:
    running, loaded = on_card(host, card, pids), card in pids
    used, total = used_mib(host, card, running, pids.get(card, [])), total_mib(host, card)
    wrong = 3 if f"ecc:{card}" in host["faults"] else 0
    processes = ["    Processes : None"]
    if running:
        processes = ["    Processes", *(f"        Process ID : {pid}" for pid in running)]
    return [
        f"XPU {address(card)}",
        "    Product Name                          : P800 OAM",
        "    Product Brand                         : KUNLUNXIN",
        "    Product Architecture                  : KL3",
        f"    Serial Number                         : EMULATED{card:04d}",
        f"    XPU UUID                              : {uuid(card)}",
        f"    Minor Number                          : {card}",
        f"    OAM Id                                : {card}",
        "    XPU Part Number                       : B00100300110312",
        "    Firmware Version",
        "        SBL Version                       : 1.54",
        "        ALL Version                       : 1.0.2.14.1.54",
        "        CPLD Version                      : 2.0",
        "    PCI",
        "        Device Id                         : 0x36862057",
        "    Memory Usage",
        f"        Total                             : {total} MiB",
        "        Reserved                          : 0 MiB",
        f"        Used                              : {used} MiB",
        f"        Free                              : {total - used} MiB",
        "    Utilization",
        f"        Xpu                               : {busy(host, card, loaded)} %",
        "    Ecc Mode",
        "        Current                           : Enabled",
        "    ECC Errors",
        "        Volatile",
        "            DRAM Correctable              : 0",
        f"            DRAM Uncorrectable            : {wrong}",
        "    Temperature",
        f"        XPU Current Temp                  : {hot(host, card, loaded)} C",
        "    Power Readings",
        "        Enforced Power Limit              : 400.00 W",
        "        Power Draw                        : 87.00 W",
        "    Clocks",
        f"        Cluster                           : {clock_mhz(host, card, loaded)} MHz",
        *processes,
    ]


def machine(host: Any, cards: list[int], pids: dict[int, list[int]]) -> str:
    lines = []
    for card in cards:
        loaded = card in pids
        used = used_mib(host, card, on_card(host, card, pids), pids.get(card, []))
        warm, share = hot(host, card, loaded), busy(host, card, loaded)
        fields = [address(card), card, "0x3686", f"EMULATED{card:04d}", warm, 0, 40, 0]
        fields += [87, *[clock_mhz(host, card, loaded)] * 6, 0, 96, used, TOTAL_MIB, share]
        fields += ["1.0.2.14.1.54"]
        fields += ['"P800 OAM"', 0, 0, 0, 0, 0, 0, 0, CLUSTER_MHZ, CLUSTER_MHZ, CLUSTER_MHZ]
        lines.append(" ".join(str(field) for field in fields))
    return "\n".join(lines) + "\n"


def topology(host: Any, cards: list[int], pids: dict[int, list[int]]) -> str:
    names = [f"XPU{card}" for card in cards]
    rows = ["\t" + "\t".join([*names, "NIC0", "CPU Affinity", "NUMA Affinity"])]
    for card, name in zip(cards, names, strict=True):
        ways = ["X" if other == card else _way(host, card, other) for other in cards]
        rows.append("\t".join([name, *ways, "PIX" if card == 0 else "NODE", "0-51", "0"]))
    legend = ["", "Legend:", "", "  X = Self", "", "NIC Legend:", "", "  NIC0: mlx5_0", ""]
    return "\n".join([*rows, *legend])


def _way(host: Any, card: int, other: int) -> str:
    """Two cliques of four, with SYS between them but for the cross link of the same place."""
    if "slow-link" in host["faults"]:
        return "SYS"
    return "XL" if card // 4 == other // 4 or card % 4 == other % 4 else "SYS"


if __name__ == "__main__":
    sys.exit(main())
