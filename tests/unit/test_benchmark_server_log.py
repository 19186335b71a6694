"""What a server's log says of the time in which a load ran."""

from pathlib import Path

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
