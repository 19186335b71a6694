"""One repeat: the tool's result, the gates, and everything the tool does not record."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from runners.benchmarks import repeat as repeat_module
from runners.benchmarks.card_watch import CardWatch
from runners.benchmarks.client import Call, EndedBy, Pass, Tool
from runners.benchmarks.repeat import Bench, OutputExistsError, Repeat, RepeatStoppedError
from runners.benchmarks.server import Server
from runners.benchmarks.server_facts import ServerFacts
from runners.benchmarks.tools import Target
from service.domain.condition import Condition, Load
from tests.runner_orders import condition

ROW = {
    "backend": "sglang",
    "dataset_name": "random-ids",
    "request_rate": float("inf"),
    "max_concurrency": 4,
    "random_input_len": 128,
    "random_output_len": 32,
    "random_range_ratio": 1.0,
    "duration": 40.0,
    "completed": 24,
    "total_input_tokens": 24 * 128,
    "total_output_tokens": 24 * 32,
    "total_output_tokens_retokenized": 24 * 32,
    "output_throughput": 19.2,
    "median_ttft_ms": 70.0,
    "median_tpot_ms": 7.0,
    "median_itl_ms": 7.0,
    "median_e2e_latency_ms": 290.0,
    "concurrency": 3.9,
}
FLUSHED = (
    '"POST /flush_cache?timeout=60.0 HTTP/1.1" 200 OK\n'
    "Prefill batch, #new-token: 100, #cached-token: 0,\n"
)


class FakeClient:
    """Writes a result file and a log as the tool and its server would."""

    version = "0.5.23"

    def __init__(
        self,
        folder: Path,
        row: object = ROW,
        *,
        log: str = FLUSHED,
        rc: int = 0,
        ended_by: EndedBy = "itself",
        cpu_s: float = 1.0,
    ) -> None:
        self.folder = folder
        self.row = row
        self.log = log
        self.ended = Pass(rc, ended_by, 1000.0, 1041.0, cpu_s)
        self.calls: list[Call] = []

    def run(self, tool: Tool, call: Call, *, stopped: Callable[[], bool]) -> Pass:
        self.calls.append(call)
        call.console.write_text("the tool's console\n", encoding="utf-8")
        with (self.folder / "server.log").open("a", encoding="utf-8") as stream:
            stream.write(self.log)
        if self.row is not None:
            output = call.argv[call.argv.index(_output_flag(call)) + 1]
            Path(output).write_text(json.dumps(self.row) + "\n", encoding="utf-8")
        return self.ended


def _output_flag(call: Call) -> str:
    return "--output-file" if "--output-file" in call.argv else "--result-filename"


class FakeServer:
    """Answers as a server does; counts what it is asked."""

    def __init__(
        self, *, flush_status: int = 200, prompt_tokens: int = 128, generated: Sequence[int] = ()
    ) -> None:
        self.flush_status = flush_status
        self.prompt_tokens = prompt_tokens
        self.generated = list(generated)
        self.asked: list[str] = []

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url.path)
        if request.url.path == "/flush_cache":
            return httpx.Response(self.flush_status)
        if request.url.path == "/metrics":
            line = f'sglang:generation_tokens_total{{tp_rank="0"}} {self.generated.pop(0)}.0'
            return httpx.Response(200, text=f"# TYPE\n{line}\n")
        prompts = json.loads(request.content)["input_ids"]
        meta = {"prompt_tokens": self.prompt_tokens, "completion_tokens": 32}
        return httpx.Response(200, json=[{"meta_info": meta} for _ in prompts])


NO_CARDS = CardWatch(tuple, leased=(0,), before=(), server_pids=tuple)
EAGER = ServerFacts(graphs_asked=False, kv_capacity=16384)


def bench(
    folder: Path,
    client: FakeClient,
    server: FakeServer | None = None,
    *,
    cards: CardWatch = NO_CARDS,
    settled: ServerFacts = EAGER,
    has_metrics: bool = False,
) -> Bench:
    answering = (server or FakeServer()).answer
    http = httpx.Client(transport=httpx.MockTransport(answering), base_url="http://server")
    return Bench(
        client=client,
        server=Server(http),
        target=Target("127.0.0.1", 31000, "/model"),
        server_log=folder / "server.log",
        folder=folder,
        environment={"A": "b"},
        limit_s=60.0,
        cards=cards,
        settled=settled,
        has_metrics=has_metrics,
    )


def measured(
    folder: Path,
    client: FakeClient,
    server: FakeServer | None = None,
    asked: Condition | None = None,
) -> Repeat:
    return bench(folder, client, server).repeat(
        asked or condition(), name="one", seed=11, stopped=lambda: False
    )


def codes(repeat: Repeat) -> set[str]:
    return {finding.code for finding in repeat.findings if finding.severity == "failure"}


def test_a_good_repeat_has_values_in_base_units_and_no_finding(tmp_path: Path) -> None:
    repeat = measured(tmp_path, FakeClient(tmp_path))

    assert repeat.values["ttft_p50"] == pytest.approx(0.07)
    assert repeat.values["output_throughput"] == 19.2
    assert repeat.findings == ()


def test_a_tail_of_too_few_requests_is_no_value_and_is_said_with_the_reason(
    tmp_path: Path,
) -> None:
    tails = ROW | {"p99_ttft_ms": 90.0, "p99_itl_ms": 9.0}
    repeat = measured(tmp_path, FakeClient(tmp_path, tails))

    (finding,) = repeat.findings
    assert "ttft_p99" not in repeat.values
    assert (finding.code, finding.severity) == ("tail_not_offered", "warning")
    assert "not offered: ttft_p99, itl_p99: a p99 needs at least 299" in finding.message


def test_the_tools_text_is_kept_byte_for_byte_beside_a_sidecar(tmp_path: Path) -> None:
    repeat = measured(tmp_path, FakeClient(tmp_path))

    sidecar = json.loads(repeat.texts["one.sidecar.json"])
    assert repeat.texts["one.jsonl"] == (json.dumps(ROW) + "\n").encode()
    assert sidecar["seed"] == 11
    assert sidecar["client_version"] == "0.5.23"
    assert sidecar["environment"] == {"A": "b"}
    assert sidecar["pass"]["rc"] == 0
    assert sidecar["server_log"]["flush_status"] == 200
    assert "--flush-cache" in sidecar["argv"]


def test_a_tool_that_fails_is_a_failed_repeat_and_never_no_data(tmp_path: Path) -> None:
    repeat = measured(tmp_path, FakeClient(tmp_path, None, rc=1))

    assert codes(repeat) == {"tool_failed"}
    assert "the tool's console" in repeat.findings[0].message
    assert repeat.values == {}
    assert "one.log" in repeat.texts


def test_a_tool_that_ends_well_without_a_result_has_failed(tmp_path: Path) -> None:
    assert codes(measured(tmp_path, FakeClient(tmp_path, None))) == {"tool_failed"}


def test_a_tool_that_takes_too_long_has_failed(tmp_path: Path) -> None:
    repeat = measured(tmp_path, FakeClient(tmp_path, rc=-9, ended_by="timeout"))

    assert codes(repeat) == {"tool_failed"}
    assert "took too long" in repeat.findings[0].message


def test_a_stopped_repeat_counts_as_never_begun(tmp_path: Path) -> None:
    with pytest.raises(RepeatStoppedError):
        measured(tmp_path, FakeClient(tmp_path, None, rc=-9, ended_by="stop"))


def test_an_output_file_that_is_there_already_is_never_appended_to(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text("old\n", encoding="utf-8")
    client = FakeClient(tmp_path)

    with pytest.raises(OutputExistsError):
        measured(tmp_path, client)
    assert client.calls == []


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        pytest.param({"completed": 23}, "requests_failed", id="a request that was lost"),
        pytest.param({"total_output_tokens": 700}, "output_tokens_not_as_asked", id="short"),
        pytest.param({"median_ttft_ms": 0.0}, "ttft_zero", id="no first token"),
        pytest.param(
            {"total_output_tokens_retokenized": 0}, "no_text_came_back", id="no text came back"
        ),
    ],
)
def test_what_the_runner_asked_for_is_what_the_gates_hold_it_to(
    tmp_path: Path, changed: dict[str, object], code: str
) -> None:
    assert code in codes(measured(tmp_path, FakeClient(tmp_path, ROW | changed)))


@pytest.mark.parametrize(
    ("log", "code"),
    [
        pytest.param(
            FLUSHED + "[http_server] Error: too long\n", "server_errors", id="an error in the log"
        ),
        pytest.param(
            FLUSHED + "KV cache pool is full. Retract requests.\n",
            "requests_retracted",
            id="requests taken back",
        ),
        pytest.param(
            '"POST /flush_cache HTTP/1.1" 400 Bad Request\n',
            "cache_not_flushed",
            id="the tool's flush refused",
        ),
        pytest.param(
            FLUSHED + "Prefill batch, #new-token: 10, #cached-token: 90,\n",
            "cache_warm",
            id="served from the cache",
        ),
    ],
)
def test_what_only_the_servers_log_tells_is_a_gate(tmp_path: Path, log: str, code: str) -> None:
    assert codes(measured(tmp_path, FakeClient(tmp_path, log=log))) == {code}


def test_our_own_flush_counts_where_the_log_shows_none(tmp_path: Path) -> None:
    refused = measured(tmp_path, FakeClient(tmp_path, log=""), FakeServer(flush_status=400))

    assert codes(refused) == {"cache_not_flushed"}


@pytest.mark.parametrize(
    ("settled", "code"),
    [
        pytest.param(ServerFacts(True, 16384), "graph_off", id="eager where graphs were asked"),
        pytest.param(
            ServerFacts(False, 600), "kv_capacity_too_small", id="less room than the load needs"
        ),
        pytest.param(
            ServerFacts(False, 16384, 20000), "kv_capacity_moved", id="less room than before"
        ),
    ],
)
def test_what_the_server_settled_is_a_gate_of_each_repeat(
    tmp_path: Path, settled: ServerFacts, code: str
) -> None:
    log = FLUSHED + "Decode batch, #running-req: 4, cuda graph: False, #queue-req: 0\n"

    repeat = bench(tmp_path, FakeClient(tmp_path, log=log), settled=settled).repeat(
        condition(), name="one", seed=11, stopped=lambda: False
    )

    assert codes(repeat) == {code}


def test_what_nobody_could_tell_is_unknown_and_fails_nothing(tmp_path: Path) -> None:
    blind = CardWatch(tuple, leased=(0,), before=None, server_pids=tuple)

    repeat = bench(tmp_path, FakeClient(tmp_path), cards=blind, settled=ServerFacts()).repeat(
        condition(), name="one", seed=11, stopped=lambda: False
    )

    unknown = {finding.code for finding in repeat.findings if finding.severity == "unknown"}
    assert codes(repeat) == set()
    assert unknown >= {"graph_off", "stranger_on_cards", "server_elsewhere", "card_throttled"}


def test_a_short_load_without_samples_tells_nothing_of_the_clients_share(tmp_path: Path) -> None:
    repeat = measured(tmp_path, FakeClient(tmp_path, ROW | {"duration": 2.0}, cpu_s=2.0))

    unknown = {finding.code for finding in repeat.findings if finding.severity == "unknown"}
    assert "client_bound" in unknown


def test_a_clock_that_is_set_meanwhile_makes_the_repeat_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = iter([1000.0, 1100.0])
    monkeypatch.setattr(
        repeat_module, "time", SimpleNamespace(time=lambda: next(moments), monotonic=lambda: 5.0)
    )

    assert codes(measured(tmp_path, FakeClient(tmp_path))) == {"clock_jumped"}


def test_the_servers_own_count_catches_tokens_that_were_only_asked_for(tmp_path: Path) -> None:
    server = FakeServer(generated=[1000, 1000 + 24 * 8])

    repeat = bench(tmp_path, FakeClient(tmp_path), server, has_metrics=True).repeat(
        condition(), name="one", seed=11, stopped=lambda: False
    )

    assert "requested_counted_as_generated" in codes(repeat)
    assert json.loads(repeat.texts["one.sidecar.json"])["generated_tokens"] == 24 * 8


def test_a_failed_tool_is_told_with_what_else_failed(tmp_path: Path) -> None:
    log = FLUSHED + "torch.OutOfMemoryError: XPU out of memory\n"

    repeat = measured(tmp_path, FakeClient(tmp_path, None, rc=1, log=log))

    assert codes(repeat) == {"tool_failed", "server_errors", "allocation_refused"}


def test_a_secret_in_the_tools_text_is_taken_out_and_that_is_said(tmp_path: Path) -> None:
    repeat = measured(tmp_path, FakeClient(tmp_path, ROW | {"server_info": {"api_key": "sk 1"}}))

    sidecar = json.loads(repeat.texts["one.sidecar.json"])
    assert json.loads(repeat.texts["one.jsonl"])["server_info"] == {"api_key": "<redacted>"}
    assert sidecar["redacted"] == ["one.jsonl"]
    assert sidecar["condition_key"] == condition().key


def test_a_client_that_fills_its_core_makes_the_repeat_invalid(tmp_path: Path) -> None:
    assert codes(measured(tmp_path, FakeClient(tmp_path, cpu_s=39.0))) == {"client_bound"}


def test_a_shared_prefix_may_be_found_in_the_cache_and_is_counted(tmp_path: Path) -> None:
    asked = condition(dataset="generated-shared-prefix", shared_prefix_tokens=96)
    log = FLUSHED + "Prefill batch, #new-token: 40, #cached-token: 200,\n"
    row = ROW | {"dataset_name": "generated-shared-prefix"}

    repeat = measured(tmp_path, FakeClient(tmp_path, row, log=log), asked=asked)

    assert codes(repeat) == set()
    assert repeat.values["cache_hit"] == pytest.approx(200 / 340)


def test_a_batch_is_warmed_up_with_its_own_shape(tmp_path: Path) -> None:
    row = {"batch_size": 4, "input_len": 128, "output_len": 32, "latency": 1.0}
    row |= {"output_throughput": 300.0, "overall_throughput": 600.0, "last_ttft": 0.5}
    row |= {"total_output_tokens": 128, "last_gen_throughput": 90.0}
    server = FakeServer()

    repeat = measured(tmp_path, FakeClient(tmp_path, row), server, asked=condition(load=Load.BATCH))

    assert server.asked == ["/generate", "/generate", "/flush_cache"]
    assert codes(repeat) == set()
    assert repeat.values["output_throughput"] == 300.0


def test_a_probe_of_other_lengths_than_asked_is_a_failure(tmp_path: Path) -> None:
    exact = bench(tmp_path, FakeClient(tmp_path)).probe(condition())
    drifted = bench(tmp_path, FakeClient(tmp_path), FakeServer(prompt_tokens=129)).probe(
        condition()
    )

    assert exact == ()
    assert [finding.code for finding in drifted] == ["lengths_not_exact"]


def test_time_beside_the_load_is_never_below_zero(tmp_path: Path) -> None:
    repeat = measured(tmp_path, FakeClient(tmp_path))

    assert repeat.overhead_s == 0.0
    assert replace(repeat, seed=12).seed == 12
