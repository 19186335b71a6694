"""What `xpu-smi` prints, in the layouts that were published, for hosts of any number of cards.

Serial numbers, UUIDs and addresses are made up. A stand-in program answers with these texts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

DRIVER = "5.0.21.26"
TABLE_HEAD = """\
+-----------------------------------------------------------------------------+
| XPU-SMI               Driver Version: {driver:<11} XPU-RT Version: {runtime:<8} |
|-------------------------------+----------------------+----------------------+
| XPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | XPU-Util  Compute M. |
|                               |             L3-Usage |            SR-IOV M. |
|===============================+======================+======================|
"""
PROCESSES_HEAD = """\
+-----------------------------------------------------------------------------+
| Processes:                                                                  |
|  XPU   XI   CI        PID   Type   Process name                  XPU Memory |
|        ID   ID                                                   Usage      |
|=============================================================================|
"""
END = "+-----------------------------------------------------------------------------+\n"
NOBODY = "|  No running processes found                                                 |\n"


@dataclass(frozen=True)
class Shown:
    """One card as the tool shows it; memory in MiB."""

    index: int
    minor: int
    address: str
    uuid: str
    model: str = "P800 OAM"
    part_number: str = "B00100300110112"
    temperature: int = 35
    power: int = 87
    used: int = 0
    total: int = 98304
    busy: int = 0
    uncorrected: int = 0
    pids: tuple[int, ...] = ()


def shown(count: int) -> list[Shown]:
    """Return that many idle cards; their minors are in another order than their indexes."""
    minors = [*range(1, count), 0]
    return [
        Shown(
            index,
            minors[index],
            f"00000000:{index * 16 + 3:02X}:00.0",
            f"GPU-0000000{index}-1111-2222-3333-444444444444",
        )
        for index in range(count)
    ]


def table(cards: Sequence[Shown], *, driver: str = DRIVER, runtime: str = "5.0.21") -> str:
    """Return the default table."""
    rows = [_table_rows(card) for card in cards]
    processes = [
        f"|  {card.index:3}   N/A  N/A  {pid:9}      C   {'python3':28}{card.used:7}MiB |\n"
        for card in cards
        for pid in card.pids
    ]
    head = TABLE_HEAD.format(driver=driver, runtime=runtime)
    body = "".join(f"{row}+{'-' * 31}+{'-' * 22}+{'-' * 22}+\n" for row in rows)
    return f"{head}{body}\n{PROCESSES_HEAD}{''.join(processes) or NOBODY}{END}"


def _table_rows(card: Shown) -> str:
    memory = f"{card.used}MiB / {card.total}MiB"
    return (
        f"| {card.index:3}  {card.model:<18} N/A  | {card.address} N/A |{card.uncorrected:21} |\n"
        f"| N/A   {card.temperature:2}C  N/A   {card.power:4}W / 400W | {memory:>20} |"
        f"{card.busy:7}%      Default |\n"
        "|                               |      0MiB /    96MiB |             Disabled |\n"
    )


def listing(cards: Sequence[Shown]) -> str:
    """Return `-L`."""
    return "".join(f"XPU {card.index}: {card.model}  {card.uuid}\n" for card in cards)


def machine(cards: Sequence[Shown]) -> str:
    """Return `-m`, by the columns of its help: no line of it was ever published."""
    return "".join(
        f"{card.address} {card.index} 0x3686 SN{card.index:06} {card.temperature} 0 38 0 "
        f"{card.power} 1450 1450 1450 1450 1450 1450 0 96 {card.used} {card.total} {card.busy} "
        f'1.0.2.14.1.48 "{card.model}" 0 0 0 0 0 0 0 0 0 0\n'
        for card in cards
    )


def query(cards: Sequence[Shown], *, driver: str = DRIVER) -> str:
    """Return `-q`."""
    head = "==============XPUSMI LOG==============\n\n" + _lines(
        0,
        ("Timestamp", "Mon Nov 30 06:00:00 2026"),
        ("Driver Version", driver),
        ("XPU-RT Version", "10.2"),
        ("", ""),
        ("Attached XPUs", str(len(cards))),
    )
    return head + "".join(_queried(card) for card in cards)


def _queried(card: Shown) -> str:
    processes = "".join(
        f"        {'Process ID':34}: {pid}\n            {'Name':30}: python3\n" for pid in card.pids
    )
    return (
        f"XPU {card.address}\n"
        + _lines(
            4,
            ("Product Name", card.model),
            ("Product Brand", "KUNLUNXIN"),
            ("Product Architecture", "KL3"),
            ("Serial Number", f"SN{card.index:06}"),
            ("XPU UUID", card.uuid),
            ("Minor Number", str(card.minor)),
            ("OAM Id", str(card.index)),
            ("XPU Part Number", card.part_number),
        )
        + "    Firmware Version\n"
        + _lines(
            8,
            ("PBL Version", "1.0"),
            ("PCIE Version", "2.14"),
            ("SBL Version", "1.48"),
            ("ALL Version", "1.0.2.14.1.48"),
            ("CPLD Version", "1.7"),
        )
        + "    PCI\n"
        + _lines(8, ("Bus Id", card.address), ("Device Id", "0x36862057"))
        + "        XPU Link Info\n            PCIe Generation\n"
        + _lines(16, ("Max", "4"), ("Current", "3"))
        + "            Link Width\n"
        + _lines(16, ("Max", "16x"), ("Current", "16x"))
        + "    Memory Usage\n"
        + _memory(card.total, card.used)
        + "    L3 Usage\n"
        + _memory(96, 0)
        + "    Utilization\n"
        + _lines(8, ("Xpu", f"{card.busy} %"))
        + "    Ecc Mode\n"
        + _lines(8, ("Current", "Enabled"))
        + "    ECC Errors\n"
        + "".join(
            f"        {kind}\n"
            + _lines(12, ("DRAM Correctable", "0"), ("DRAM Uncorrectable", str(card.uncorrected)))
            for kind in ("Volatile", "Aggregate")
        )
        + "    Temperature\n"
        + _lines(8, ("XPU Current Temp", f"{card.temperature} C"))
        + "    Power Readings\n"
        + _lines(8, ("Enforced Power Limit", "400.00 W"), ("Power Draw", f"{card.power}.00 W"))
        + "    Clocks\n"
        + _lines(8, ("Cluster", "1450 MHz"), ("CDNN", "1450 MHz"))
        + (f"    Processes\n{processes}" if processes else _lines(4, ("Processes", "None")))
    )


def _memory(total: int, used: int) -> str:
    return _lines(
        8,
        ("Total", f"{total} MiB"),
        ("Reserved", "0 MiB"),
        ("Used", f"{used} MiB"),
        ("Free", f"{total - used} MiB"),
    )


def _lines(indent: int, *pairs: tuple[str, str]) -> str:
    return "".join(
        f"{' ' * indent}{key:{42 - indent}}: {value}\n" if key else "\n" for key, value in pairs
    )


def topology(count: int) -> str:
    """Return `topo -m` of one clique with two NICs by number."""
    names = [f"XPU{number}" for number in range(count)]
    head = "\t".join(["", *names, "NIC0", "NIC1", "CPU Affinity", "NUMA Affinity"])
    rows = [
        "\t".join(
            [one, *("X" if one == other else "XL" for other in names), "PIX", "NODE", "0-51", "0"]
        )
        for one in names
    ]
    nics = [
        "\t".join(["NIC0", *["PIX"] * count, "X", "NODE"]),
        "\t".join(["NIC1", *["NODE"] * count, "NODE", "X"]),
    ]
    legend = "\n\nLegend:\n\n  X    = Self\n  XL   = XPULink\n\nNIC Legend:\n\n  NIC0: mlx5_0\n"
    return "\n".join([head, *rows, *nics]) + legend + "  NIC1: mlx5_1\n"


def answers(cards: Sequence[Shown]) -> Mapping[str, str]:
    """Return what each form prints, by its words."""
    return {
        "": table(cards),
        "-L": listing(cards),
        "-q": query(cards),
        "-m": machine(cards),
        "topo -m": topology(len(cards)),
    }


def stand_in(folder: Path, told: Mapping[str, str]) -> Path:
    """Write a program that answers as `xpu-smi` does and refuses all other words; return it."""
    cases = []
    for number, (words, text) in enumerate(told.items()):
        path = folder / f"form-{number}.txt"
        path.write_text(text, encoding="utf-8")
        cases.append(f'  "{words}") exec cat "{path}" ;;')
    program = folder / "xpu-smi"
    program.write_text(
        "\n".join(
            ["#!/bin/sh", 'case "$*" in', *cases, "  *) echo refused >&2; exit 9 ;;", "esac", ""]
        ),
        encoding="utf-8",
    )
    program.chmod(0o755)
    return program


def stand_in_host(folder: Path, cards: Sequence[Shown]) -> dict[str, str]:
    """Lay out device nodes, files and the program below a folder; return the variables to use."""
    for name in (*(f"xpu{card.minor}" for card in cards), "xpuctrl"):
        node = folder / "root/dev" / name
        node.parent.mkdir(parents=True, exist_ok=True)
        node.touch()
    program = stand_in(folder, answers(cards))
    return {"KUNLINE_HOST_ROOT": str(folder / "root"), "KUNLINE_XPU_SMI": str(program)}
