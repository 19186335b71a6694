"""Secrets: known by name, by place and by form, and gone before anything is on a disk."""

import json
import time
from base64 import b64encode

import pytest

from service.domain.redaction import (
    REDACTED,
    redacted,
    redacted_bytes,
    redacted_text,
    redacted_words,
)
from tests.shared_data import shared

HUB = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWx"
SIGNED = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLW9mLWl0"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc==\n-----END RSA PRIVATE KEY-----"
PEM_IN_JSON = PEM.replace("\n", r"\n")
MEGABYTE = 2**20


@pytest.mark.parametrize(
    "name",
    [
        "api_key",
        "admin_api_key",
        "ssl_keyfile_password",
        "ssl_keyfile",
        "watermark_key_b",
        "client_secret",
        "HF_TOKEN",
        "HUGGING_FACE_HUB_TOKEN",
        "HF_API_TOKEN",
        "MODELSCOPE_API_TOKEN",
        "KUNLINE_TOKEN",
        "GITHUB_TOKEN",
        "DB_PASSWORD",
        "MYSQL_PWD",
        "SSH_PASSPHRASE",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "OPENAI_API_KEY",
        "Authorization",
        "Set-Cookie",
        "token",
        "auth_token",
    ],
)
def test_a_secret_is_known_by_its_name(name: str) -> None:
    assert redacted({name: "hunter2"}) == {name: REDACTED}
    assert redacted({"deep": [{name: "hunter2"}]}) == {"deep": [{name: REDACTED}]}
    assert redacted({name: None}) == {name: None}


@pytest.mark.parametrize(
    "name",
    [
        "max_total_tokens",
        "tokenizer_path",
        "tokenizer_mode",
        "bucket_time_to_first_token",
        "eos_token",
        "token_capacity",
        "page_size",
        "kv_cache_dtype",
        "monkey",
        "OMP_NUM_THREADS",
        "SGLANG_CPU_OMP_THREADS_BIND",
        "XMLIR_ENABLE_FAST_FC",
        "CUDA_VISIBLE_DEVICES",
    ],
)
def test_ordinary_names_are_no_secrets(name: str) -> None:
    assert redacted({name: 4096}) == {name: 4096}
    assert redacted({name: "some value"}) == {name: "some value"}


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("--api-key sk-1 --port 3", f"--api-key {REDACTED} --port 3"),
        ("--admin-api-key=sk-1", f"--admin-api-key={REDACTED}"),
        ("--hf-token hf_1 --tp 2", f"--hf-token {REDACTED} --tp 2"),
        ("--token abc", f"--token {REDACTED}"),
        ("--ssl-keyfile-password 'a b' --tp 2", f"--ssl-keyfile-password {REDACTED} --tp 2"),
        ("redis://user:pw@host:6379/0", f"redis://{REDACTED}@host:6379/0"),
        ("redis://:pw@host:6379/0", f"redis://{REDACTED}@host:6379/0"),
        ("https://ghp_1@host/x.whl", f"https://{REDACTED}@host/x.whl"),
        (
            "Looking in indexes: https://u:p@host/simple",
            f"Looking in indexes: https://{REDACTED}@host/simple",
        ),
        ("GET /x?token=abc&n=2 ", f"GET /x?token={REDACTED}&n=2 "),
        (
            "http://s3/w?X-Amz-Signature=00ff&X-Amz-Date=2",
            f"http://s3/w?X-Amz-Signature={REDACTED}&X-Amz-Date=2",
        ),
        ("ServerArgs(api_key='sk-1', tp_size=2)", f"ServerArgs(api_key='{REDACTED}', tp_size=2)"),
        ('{"admin_api_key": "sk 1"}', f'{{"admin_api_key": "{REDACTED}"}}'),
        ('{"hf_token": 12, "n": 1}', f'{{"hf_token": "{REDACTED}", "n": 1}}'),
        (r'"{\"api_key\": \"sk 1\", \"n\": 1}"', rf'"{{\"api_key\": \"{REDACTED}\", \"n\": 1}}"'),
        ("HF_TOKEN=hf_1 python", f"HF_TOKEN={REDACTED} python"),
        ("AWS_SECRET_ACCESS_KEY=ab/c+d python", f"AWS_SECRET_ACCESS_KEY={REDACTED} python"),
        ("WANDB_API_KEY: 0123", f"WANDB_API_KEY: {REDACTED}"),
        ("Authorization: Bearer abc.def", f"Authorization: Bearer {REDACTED}"),
        ("authorization: Basic dXNlcjpwdw==", f"authorization: Basic {REDACTED}"),
        ("{'Authorization': 'Bearer abc'}", f"{{'Authorization': 'Bearer {REDACTED}'}}"),
        ("X-Api-Key: abc", f"X-Api-Key: {REDACTED}"),
        ("Cookie: session=abc; a=b", f"Cookie: {REDACTED}"),
        ("{'Cookie': 'session=abc; a=b'}", f"{{'Cookie': '{REDACTED}'}}"),
        ("redis://u:p@ss@host:6379/0", f"redis://{REDACTED}@host:6379/0"),
        (
            '{"apiKey": "x", "clientSecret": "y"}',
            f'{{"apiKey": "{REDACTED}", "clientSecret": "{REDACTED}"}}',
        ),
        ("OPENAI_API_KEY_2=abc MYPASSWORD=x", f"OPENAI_API_KEY_2={REDACTED} MYPASSWORD={REDACTED}"),
        ("export HF_TOKEN = abc", f"export HF_TOKEN = {REDACTED}"),
        ("the bearer s3cr3t-0f-m1ne came", f"the bearer {REDACTED} came"),
        (f'"tls": "{PEM_IN_JSON}"', f'"tls": "{REDACTED}"'),
        (f"HUB: {b64encode(HUB.encode()).decode()}", f"HUB: {REDACTED}"),
        (f"client-data: {b64encode(PEM.encode()).decode()}", f"client-data: {REDACTED}"),
        (f"loaded with {HUB} from", f"loaded with {REDACTED} from"),
        (f"got {SIGNED}.", f"got {REDACTED}."),
        (f"key {PEM} end", f"key {REDACTED} end"),
        ("AKIA" + "ABCDEFGHIJKLMNOP", REDACTED),
    ],
)
def test_secrets_in_a_command_line_or_a_log_are_removed(text: str, clean: str) -> None:
    assert redacted_text(text) == clean
    assert redacted_text(clean) == clean
    assert redacted({"launch_command": text}) == {"launch_command": clean}
    assert redacted_bytes(text.encode()) == clean.encode()


@pytest.mark.parametrize(
    "text",
    [
        "ServerArgs(api_key=None, tp_size=2)",
        '{"api_key": null, "admin_api_key": null}',
        "KeyError: 'model.layers.0'",
        "#new-token: 12, max_total_num_tokens=16, token usage: 0.00",
        "--max-total-tokens 16384 --tokenizer-path /models/x --tokenize-prompt --key-value",
        "Prefill batch, #new-seq: 1, #cached-token: 0, #queue-req: 0",
        '127.0.0.1:4242 - "POST /flush_cache HTTP/1.1" 200 OK',
        "mean gap between tokens: 7.0 ms; ratio 0.2 at http://127.0.0.1:31000/generate",
        "eos_token='</s>', pad_token_id=0, sk-learn, hf_hub_offline=1",
        "user@host said: password is a word",
        "the bearer of bad news, the bearer responsibilities; a cookie: I like it",
        "Bearer tokens are explained at http://host/a@b and in user@host:path",
        "task-0123456789abcdefghij desk-lamp-and-a-long-name risk-0123456789abcdef",
        "----------------------------------------------------------------",
        "tokens: [1, 2, 3], secrets are kept, key: value, keys=3",
        '{"prompt": "how many tokens has a token? --- a key idea --key", "prompt_len": 12}',
        "weights: 661461f4326a21ace7ffa05f2cde61a85a6e2b8aec73aaf953b3be0c7f2c77b6",
    ],
)
def test_ordinary_texts_stay_as_they_are(text: str) -> None:
    assert redacted_text(text) == text


@pytest.mark.parametrize("name", ["noise_quiet.jsonl", "toolong.jsonl", "toolong.log", "dead.log"])
def test_what_real_servers_and_tools_wrote_stays_byte_for_byte(name: str) -> None:
    content = shared(f"sglang-cpu/{name}").read_bytes()

    assert redacted_bytes(content) == content


def test_a_line_of_json_is_still_json_without_its_secret() -> None:
    line = shared("sglang-cpu/noise_quiet.jsonl").read_text().splitlines()[0]
    told = json.loads(line)
    told["server_info"]["api_key"] = "sk-1"

    clean = json.loads(redacted_text(json.dumps(told)))

    assert clean["server_info"].pop("api_key") == REDACTED
    told["server_info"].pop("api_key")
    assert clean == told


def test_a_command_line_in_words_loses_the_word_after_a_secret_flag() -> None:
    words = ["sglang", "--api-key", "sk 1", "--tp-size", "2", "--hf-token=x", "--token"]
    clean = ["sglang", "--api-key", REDACTED, "--tp-size", "2", f"--hf-token={REDACTED}", "--token"]

    assert redacted_words(words) == clean
    assert redacted({"launch_command": words}) == {"launch_command": clean}


def test_bytes_that_are_no_text_are_kept() -> None:
    assert redacted_bytes(b"\xff\xfe api_key=abc") == f"\udcff\udcfe api_key={REDACTED}".encode(
        errors="surrogateescape"
    )


def test_a_secret_that_is_a_name_is_no_more_kept_than_one_that_is_a_value() -> None:
    assert redacted({"env": {HUB: 1, "page_size": 16}}) == {"env": {REDACTED: 1, "page_size": 16}}


NUMBERS = json.dumps([each * 0.0123456789 for each in range(40_000)])
LOG = "".join(
    f"[2026-11-30 03:00:{each % 60:02d} TP0] Decode batch. #running-req: {each}, #token: {each}, "
    f"token usage: 0.02, gen throughput (token/s): {each / 7}, #queue-req: 0\n"
    for each in range(6_000)
)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(NUMBERS, id="a list of numbers"),
        pytest.param(LOG, id="a server's log"),
        pytest.param("the keys ask for tokens and a secret " * 28_000, id="prompts"),
        pytest.param("-" * MEGABYTE, id="a ruler"),
        pytest.param("--a" * 350_000, id="flags in one word"),
        pytest.param("--key-" * 170_000, id="secret flags in one word"),
        pytest.param("_api_key" * 130_000, id="settings without a value"),
        pytest.param("api_key=" * 130_000, id="settings of settings"),
        pytest.param('password="' * 100_000, id="quotes that do not close"),
        pytest.param("password='\\\\" * 80_000, id="backslashes"),
        pytest.param("Authorization: a " * 60_000, id="headers"),
        pytest.param("cookie: a=b;" * 80_000, id="cookies"),
        pytest.param("://" * 350_000, id="addresses"),
        pytest.param("://a@" * 200_000, id="addresses with a name"),
        pytest.param("eyJaaaaaaaa-" * 80_000, id="half signed tokens"),
        pytest.param("eyJaaaaaaaa." * 80_000, id="signed tokens"),
        pytest.param("-----BEGIN PRIVATE KEY" * 40_000, id="keys that do not begin"),
        pytest.param("-----BEGIN PRIVATE KEY-----" * 40_000, id="keys that do not end"),
        pytest.param("sk-" * 350_000, id="a form in a form"),
    ],
)
def test_a_megabyte_takes_no_time_whatever_is_in_it(text: str) -> None:
    """It takes a twentieth of a second, and what tries a place twice takes minutes."""
    began = time.process_time()

    redacted_text(text)

    assert time.process_time() - began < 3
