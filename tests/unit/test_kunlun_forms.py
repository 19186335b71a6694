"""Every published form of `xpu-smi` is parsed whole; anything else is a loud error."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.devices.kunlun.listing import listed
from runners.devices.kunlun.machine import machine_lines
from runners.devices.kunlun.older_table import older_tabled
from runners.devices.kunlun.query import queried
from runners.devices.kunlun.smi import SmiError
from runners.devices.kunlun.table import tabled
from runners.devices.kunlun.topology import cards_in, topology_of
from tests import xpu_smi
from tests.golden_file import assert_golden
from tests.xpu_smi import shown

CARDS = [replace(shown(2)[0], used=512, busy=7, pids=(41,)), shown(2)[1]]
# The table as it was published, made of the rows of one card.
PUBLISHED_TABLE = """\
+-----------------------------------------------------------------------------+
| XPU-SMI               Driver Version: 5.19.0.0     XPU-RT Version: 5.19.0   |
|-------------------------------+----------------------+----------------------+
| XPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | XPU-Util  Compute M. |
|                               |             L3-Usage |            SR-IOV M. |
|===============================+======================+======================|
|   0  P800 OAM           N/A   | 00000000:03:00.0 N/A |                    0 |
| N/A   35C  N/A     87W / 400W |      0MiB / 98304MiB |      0%      Default |
|                               |      0MiB /    96MiB |             Disabled |
+-------------------------------+----------------------+----------------------+

+-----------------------------------------------------------------------------+
| Processes:                                                                  |
|  XPU   XI   CI        PID   Type   Process name                  XPU Memory |
|        ID   ID                                                   Usage      |
|=============================================================================|
|  No running processes found                                                 |
+-----------------------------------------------------------------------------+
"""
OLDER = """\
Runtime Version: 4.31
Driver Version: 4.0
  DEVICES
-------------------------------------------------------------------------------------
| DevID |   PCI Addr   | Model |   SN  |   INODE   | UseRate |    L3     |    Memory    |
-------------------------------------------------------------------------------------
|     0 | 0000:53:00.0 | R300  | SN000 | /dev/xpu0 |     0 % | 0 / 63 MB | 0 / 32768 MB |
|     1 | 0000:56:00.0 | R300  | SN001 | /dev/xpu1 |     3 % | 0 / 63 MB | 9 / 32768 MB |
-------------------------------------------------------------------------------------
  VIDEO
| DevID | Model | DEC | ENC |
|     0 | R300  | 0 % | 0 % |
"""
TOPOLOGY = """\
        XPU0\tXPU1\tNIC0\tNIC1\tCPU Affinity NUMA Affinity
XPU0    X    XL   PIX  NODE 0-51,104-155 0
XPU1    XL   X    NODE SYS  0-51,104-155 0

Legend:
  X = Self
NIC Legend:
  NIC0: mlx5_0
  NIC1: mlx5_1
"""
PARSERS: dict[str, Callable[[str], object]] = {
    "table": tabled,
    "-L": listed,
    "-q": queried,
    "-m": machine_lines,
    "topo -m": topology_of,
}
TEXTS = {
    "table": xpu_smi.table(CARDS),
    "-L": xpu_smi.listing(CARDS),
    "-q": xpu_smi.query(CARDS),
    "-m": xpu_smi.machine(CARDS),
    "topo -m": xpu_smi.topology(2),
}


def count(parsed: object) -> int:
    """Return how many cards a parsed text tells of."""
    if isinstance(parsed, tuple):
        return len(parsed)
    if hasattr(parsed, "links"):
        return cards_in(parsed)  # type: ignore[arg-type]
    cards: Sequence[object] = parsed.cards  # type: ignore[attr-defined]
    return len(cards)


def as_json(parsed: object) -> object:
    if isinstance(parsed, tuple):
        return [asdict(each) for each in parsed]
    document = asdict(parsed)  # type: ignore[call-overload]
    if "links" in document:
        document["links"] = {
            f"{one} {other}": word for (one, other), word in document["links"].items()
        }
    for card in document.get("cards", ()):
        card.pop("fields", None)
    return document


def test_every_form_gives_what_it_gave() -> None:
    parsed = {form: as_json(PARSERS[form](text)) for form, text in TEXTS.items()}
    parsed["table, as published"] = as_json(tabled(PUBLISHED_TABLE))
    parsed["table of the first generations"] = as_json(older_tabled(OLDER))
    parsed["topo -m, as published"] = as_json(topology_of(TOPOLOGY))

    assert_golden("xpu_smi.json", json.dumps(parsed, indent=1, sort_keys=True) + "\n")


@pytest.mark.parametrize(
    ("driver", "runtime", "told"),
    [
        pytest.param("5.0.21.26", "5.0.21", "5.0.21", id="an older driver"),
        pytest.param("515.58", "N/A", None, id="inside a container"),
    ],
)
def test_the_banners_that_were_seen_are_read(driver: str, runtime: str, told: str | None) -> None:
    table = tabled(xpu_smi.table(CARDS, driver=driver, runtime=runtime))

    assert (table.driver, table.runtime) == (driver, told)


def test_a_date_may_stand_above_the_table() -> None:
    assert count(tabled("Mon Nov 30 06:00:00 2026\n" + TEXTS["table"])) == 2


def test_the_tables_processes_lie_on_their_cards() -> None:
    (process,) = tabled(TEXTS["table"]).processes

    assert (process.index, process.pid, process.name) == (0, 41, "python3")


def test_flattened_keys_of_a_query_are_read_as_sections_are() -> None:
    flat = TEXTS["-q"].replace("    Ecc Mode\n        Current", "    Ecc Mode Current")

    assert queried(flat).cards[0].field("ecc mode", "current") == "Enabled"


@pytest.mark.parametrize(
    ("text", "nics"),
    [
        pytest.param(TOPOLOGY, {"NIC0": "mlx5_0", "NIC1": "mlx5_1"}, id="a legend"),
        pytest.param(
            TOPOLOGY.replace("NIC0\tNIC1", "mlx5_0\thns_0").partition("\nLegend")[0],
            {"mlx5_0": "mlx5_0", "hns_0": "hns_0"},
            id="columns by name and no legend",
        ),
        pytest.param(
            "\x1b[4m" + TOPOLOGY.replace("XPU1\tNIC0", "XPU1\x1b[0m\tNIC0"),
            {"NIC0": "mlx5_0", "NIC1": "mlx5_1"},
            id="colours in the header",
        ),
        pytest.param(
            "\tXPU0\tXPU1\tbnxt_re1\tirdma2\nXPU0\tX\tPHB\tPXB\tSYS\nXPU1\tPHB\tX\tSYS\tPXB\n"
            "bnxt_re1\tPXB\tSYS\tX\tSYS\nirdma2\tSYS\tPXB\tSYS\tX\n",
            {"bnxt_re1": "bnxt_re1", "irdma2": "irdma2"},
            id="rows of NICs and no affinities",
        ),
    ],
)
def test_every_variant_of_the_topology_is_read(text: str, nics: dict[str, str]) -> None:
    topology = topology_of(text)

    assert topology.nics == nics
    assert topology.links["XPU0", "XPU1"] in {"XL", "PHB"}


def test_colours_and_spaces_do_not_change_the_topologys_digest() -> None:
    coloured = "\x1b[1m" + TOPOLOGY.replace("    ", "  ") + "\x1b[0m"

    assert topology_of(coloured).digest == topology_of(TOPOLOGY).digest
    assert topology_of(TOPOLOGY.replace("XL ", "SYS")).digest != topology_of(TOPOLOGY).digest


@pytest.mark.parametrize("form", PARSERS, ids=str)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param(
            "Intel(R) XPU System Management Interface -- v1.2\nUsage: xpu-smi", id="Intel"
        ),
        pytest.param("| NVIDIA-SMI 550.54   Driver Version: 550.54  |\n", id="NVIDIA"),
        pytest.param("command not found\n", id="a shell's complaint"),
    ],
)
def test_other_texts_are_no_cards(form: str, text: str) -> None:
    if text == "" and form in {"-L", "-m"}:
        assert PARSERS[form](text) == ()  # no line is no card; the joins catch it
        return
    with pytest.raises(SmiError):
        PARSERS[form](text)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(TEXTS["-m"].splitlines()[0].rpartition(" ")[0], id="31 fields"),
        pytest.param(TEXTS["-m"].splitlines()[0] + " 0", id="33 fields"),
        pytest.param(TEXTS["-m"].splitlines()[0].replace('"', ""), id="the model unquoted"),
        pytest.param(TEXTS["-m"].splitlines()[0].replace('M"', "M"), id="a quote left open"),
    ],
)
def test_a_machine_line_has_exactly_32_fields(line: str) -> None:
    with pytest.raises(SmiError):
        machine_lines(line)


@pytest.mark.parametrize("form", ["table", "-q", "topo -m"])
@given(share=st.floats(0, 0.98))
def test_a_text_that_is_cut_off_is_never_half_the_cards(form: str, share: float) -> None:
    text = TEXTS[form]
    try:
        parsed = PARSERS[form](text[: int(len(text) * share)])
    except SmiError:
        return
    assert count(parsed) == len(CARDS)


@pytest.mark.parametrize("form", PARSERS, ids=str)
@given(data=st.data())
def test_a_mutated_text_is_whole_or_an_error(form: str, data: st.DataObject) -> None:
    lines = TEXTS[form].splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    line = data.draw(
        st.one_of(st.just(""), st.just(lines[at] * 2), st.text(max_size=60).map(lambda t: t + "\n"))
    )
    mutated = "".join([*lines[:at], line, *lines[at + 1 :]])
    try:
        parsed = PARSERS[form](mutated)
    except SmiError:
        return
    # A line of -L or -m is a whole card; that one is gone is seen when the forms are joined.
    assert count(parsed) >= len(CARDS) - (form in {"-L", "-m"})


@given(text=st.text())
@pytest.mark.parametrize("form", PARSERS, ids=str)
def test_any_text_is_an_answer_or_an_smi_error(form: str, text: str) -> None:
    try:
        PARSERS[form](text)
    except SmiError:
        return


def test_a_row_of_an_older_chip_that_is_cut_off_is_an_error() -> None:
    with pytest.raises(SmiError):
        older_tabled(OLDER.replace("| 0 / 32768 MB |", "|"))
