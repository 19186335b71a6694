"""What a server's log says of the time in which a load ran."""

from pathlib import Path

import pytest

from runners.benchmarks.server_log import NO_LOG, LogWatch, facts_in

FLUSH = '[2026-11-29 23:18:15] INFO:     127.0.0.1:1 - "POST /flush_cache?timeout=60.0 HTTP/1.1" '
PREFILL = "[2026-11-29 23:18:30] Prefill batch, #new-seq: 3, #new-token: {}, #cached-token: {}, "


def test_a_quiet_log_holds_no_error() -> None:
    facts = facts_in("The server is fired up and ready to roll!\nIgnore import error when loading")

    assert (facts.errors, facts.retractions, facts.flush_status) == (0, 0, None)
    assert facts.cache_hit is None


def test_refused_requests_are_errors_though_the_client_counts_them_as_done() -> None:
    facts = facts_in("[2026-11-29 23:19:01] [http_server] Error: The input is too long\n" * 5)

    assert facts.errors == 5
    assert len(facts.error_lines) == 3


def test_the_last_flush_counts() -> None:
    assert facts_in(f"{FLUSH}200 OK\n{FLUSH}400 Bad Request\n").flush_status == 400


def test_the_cache_is_counted_from_the_flush_on() -> None:
    warm_up = PREFILL.format(0, 128)
    load = PREFILL.format(300, 100)

    assert facts_in(f"{warm_up}\n{FLUSH}200 OK\n{load}\n").cache_hit == 0.25


def test_requests_taken_back_are_counted() -> None:
    assert facts_in("KV cache pool is full. Retract requests. #retracted_reqs: 1").retractions == 1


def test_a_watch_reads_only_what_was_written_after_it_began(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text("Traceback (most recent call last):\n", encoding="utf-8")
    watch = LogWatch(log)
    with log.open("a", encoding="utf-8") as stream:
        stream.write(f"{FLUSH}200 OK\n")

    assert watch.facts().errors == 0
    assert watch.facts().flush_status == 200


def test_a_log_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    assert LogWatch(tmp_path / "none.log").facts() == NO_LOG


def test_decode_batches_without_a_graph_are_counted_from_the_flush_on() -> None:
    graph = "Decode batch, #running-req: 1, {} graph: {}, gen throughput (token/s): 1.0\n"
    text = graph.format("cuda", False) + f"{FLUSH}200 OK\n" + graph.format("cuda", True)

    assert facts_in(text).eager_decodes == 0
    assert facts_in(text + graph.format("xpu", False)).eager_decodes == 1
    assert facts_in("").eager_decodes is None


def test_memory_that_ran_out_is_an_error() -> None:
    assert facts_in("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate").errors == 1
    assert facts_in("lower --mem-fraction-static to avoid running out of memory").errors == 0


def test_a_refused_allocation_is_told_with_its_cause_and_its_line() -> None:
    line = "CUDA out of memory. Tried to allocate 2 GiB. GPU 0 … of which 1 GiB is free. … "
    fragmented = f"{line}1.5 GiB is reserved by PyTorch but unallocated."

    facts = facts_in(f"{fragmented}\nDecode batch, #running-req: 1\n")

    assert facts.refusals == ("fragmentation",)
    assert facts.refusal_lines == (fragmented,)
    assert facts_in("all is well").refusals == ()


def test_decoding_that_slows_down_is_told_by_the_slope_of_what_the_log_says() -> None:
    line = "[2026-11-30 02:{:02d}:00 TP0] Decode batch, #running-req: 8, gen throughput (token/s): "
    fading = "\n".join(f"{line.format(at)}{200 - 2 * at}.0, #queue-req: 0" for at in range(30))

    grown = facts_in(fading).throughput_growth
    assert grown is not None
    assert grown.center == pytest.approx(-58 / 170, abs=0.01)
    assert grown.high < 0
    assert facts_in(line.format(1) + "200.0").throughput_growth is None


def test_of_an_open_load_more_requests_at_one_sum_are_slower_decoding() -> None:
    line = "[2026-11-30 02:{:02d}:00] Decode batch, #running-req: {}, gen throughput (token/s): 200"
    filling = "\n".join(line.format(at, 10 + at) for at in range(30))

    grown = facts_in(filling).throughput_growth
    assert grown is not None
    assert grown.center < -0.5
    assert grown.high < 0


def test_requests_taken_back_are_shown() -> None:
    line = "KV cache pool is full. Retract requests. #retracted_reqs: 1"

    assert facts_in(f"{line}\n{line}").retraction_lines == (line, line)
