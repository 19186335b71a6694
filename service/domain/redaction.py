"""What is secret in texts and documents, and what is left in its place.

Whatever a runner keeps or sends goes through here before it is on a disk: logs, what a server says
of itself, environments, command lines, the words of errors. A secret is known by its name, by
where it stands (a header, an address) or by a form that nothing else has.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import TypeAlias

REDACTED = "<redacted>"

# Where a secret begins and ends, and what is left in its place.
_Span: TypeAlias = tuple[int, int, bytes]

# Secret by name: a key, a password, a secret or a credential, or a token that opens a door.
# Counts of tokens and tokenizers are not, nor is where a public key lies.
_SECRET_NAME = re.compile(
    r"(^|[_-])keys?([_-]|$)|api_?key|keyfile|passw|passphrase|secret|credential|bearer|cookie"
    r"|(^|[_-])authorization$|(^|[_-])pw?d$"
    r"|(^|[_-])(auth|access|hf|hub|hugging_?face|api|refresh|session|id|bot|kunline|github|gitlab|"
    r"pypi|modelscope|wandb|bearer|vault)[_-]?(api[_-]?)?token$|^token$",
    re.IGNORECASE,
)
# Everything below is looked for in bytes, in lower case but for the forms: each pattern begins
# with letters that most text does not have there, and none tries a place twice, so that time
# grows with the text alone. `(?<!…)` after a first letter looks at what stands before it.
_OPENS_DOOR = (
    "api[_-]?key",
    "private[_-]?key",
    "access[_-]?key",
    *(
        f"{owner}[_-]?token"
        for owner in ("auth", "access", "hf", "hub", "hugging_?face(?:_hub)?", "api", "refresh")
    ),
    *(
        f"{owner}[_-]?token"
        for owner in ("session", "id", "bot", "kunline", "github", "gitlab", "pypi", "modelscope")
    ),
    "vault[_-]?token",
)
# These are secrets whatever their name begins with.
_SECRET_WORDS = (
    "secret(?:[_-]?(?:access[_-]?)?key)?",
    "passw(?:or)?d",
    "passphrase",
    "credentials?",
)
_DOOR = "|".join(
    (*(f"{word[0]}(?<![a-z0-9]{word[0]}){word[1:]}" for word in _OPENS_DOOR), *_SECRET_WORDS)
)
# As a program prints its settings: api_key='…', HF_TOKEN=…, "password": "…". A bare 'key' is not
# taken for one here: logs name the keys of maps.
_SETTING = re.compile(
    rf"(?:{_DOOR})(?:[_-]?[0-9]{{1,3}})?[\\]?(?P<close>[\"']?)\s*+[=:]\s*+"
    r"(?!(?:none|null|true|false)\b)(?!<redacted>)"
    r"(?P<value>\"(?:[^\"\\]|\\.)*+\"|'[^']*+'|\\\"[^\"]*\\\"|[^\s,;&)}\]\"']++)".encode(),
    re.DOTALL,
)
_FLAG = re.compile(rb"--([\w-]++)(?:(?:=|\s++)(?!-)(?P<value>\"[^\"\n]*+\"|'[^'\n]*+'|\S++))?")
_SECRET_FLAG = re.compile(
    rb"key|passw|secret|credential|auth-token|access-token|hf-token|hub-token|api-token|^token$"
)
_HEADER = re.compile(
    rb"(?:authorization[\"']?\s*+[:=]\s*+[\"']?(?:\w++\s++)?+"
    rb"|x(?<!\wx)-(?:api-key|auth-token)[\"']?\s*+[:=]\s*+[\"']?)"
    rb"(?!<redacted>)(?P<value>[^\s,;)}\]\"']++)"
    rb"|cookie[\"']?:\s*+[\"']?(?P<pairs>(?:[^\s=;,\"'<]++=[^\s;,\"']*+(?:;[ \t]*+)?+)++)"
    rb"|bearer(?<!\wbearer)[ \t]++(?!<redacted>)(?P<bearer>[^\s,;)}\]\"']++)"
)
# After "bearer" a word may stand, in a prompt: a key is no word.
_WORD = re.compile(rb"[A-Za-z]?[a-z'-]{0,19}[.:!?]?")
_ADDRESS = re.compile(rb"://(?P<value>[^/\s\"'<>]++)")
_QUERY = re.compile(
    rb"[?&](?:token|key|sig|signature|x-amz-(?:signature|credential|security-token))="
    rb"(?!<redacted>)(?P<value>[^&\s\"'<>]++)"
)
# Forms that only keys have: of model hubs, of code hosts, of clouds, of chat services, of APIs,
# signed web tokens, private keys as text, and those of them that are often in base64.
_FORM = re.compile(
    rb"h(?<!\wh)f_[A-Za-z0-9]{16,}+(?![\w-])"
    rb"|g(?<!\wg)(?:h[opsur]_[A-Za-z0-9]{20,}+|ithub_pat_\w{20,}+|lpat-[\w-]{16,}+)"
    rb"|m(?<!\wm)s-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    rb"|n(?<!\wn)(?:vapi-[\w-]{20,}+|pm_[A-Za-z0-9]{30,}+)|p(?<!\wp)ypi-[\w-]{32,}+"
    rb"|A(?<!\wA)(?:(?:KIA|SIA)[0-9A-Z]{16}(?![\w-])|Iza[\w-]{35})"
    rb"|x(?<!\wx)ox[abeprs]-[\w-]{10,}+|s(?<!\ws)k-[\w-]{16,}+"
    rb"|e(?<!\we)yJ[\w-]{8,}+(?P<signed>\.[\w-]{8,}+\.[\w-]{8,}+)?+"
    rb"|a(?<!\wa)GZf[A-Za-z0-9+/]{20,}+={0,2}|Z(?<!\wZ)2hwX[A-Za-z0-9+/]{20,}+={0,2}"
    rb"|LS0tLS1CRUdJTi[A-Za-z0-9+/]{20,}+={0,2}"
    rb"|-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rb".*?(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_HIDDEN = REDACTED.encode()


def redacted(document: Mapping[str, object]) -> dict[str, object]:
    """Return a copy without secrets: by their names, in command lines and in addresses.

    Null and booleans stay, so it can still be seen whether one was set at all.
    """
    return {
        redacted_text(name): REDACTED if _is_secret(name, value) else _without_secrets(value)
        for name, value in document.items()
    }


def redacted_text(text: str) -> str:
    """Return a text without secrets: of flags, settings, headers and addresses, and keys by form.

    A text that holds none is returned as it is.
    """
    # Half characters of JSON's escapes are kept: they are no secret, and stand in real files.
    return redacted_bytes(text.encode(errors="surrogatepass")).decode(errors="surrogatepass")


def redacted_bytes(content: bytes) -> bytes:
    """Return a file's content without secrets; byte for byte the same where it holds none.

    Takes some hundredths of a second a megabyte, of numbers, logs and prompts alike.
    """
    # Bytes get no longer in lower case, so a place in one is the same place in the other.
    spans = sorted(chain(_by_form(content), _by_place(content.lower(), content)))
    pieces: list[bytes] = []
    end = 0
    for start, stop, instead in spans:
        if start >= end:
            pieces += (content[end:start], instead)
        end = max(end, stop)
    return b"".join((*pieces, content[end:])) if spans else content


def redacted_words(words: Sequence[str]) -> list[str]:
    """Return the words of a command line without secrets: a flag's value may be the next word."""
    clean = [redacted_text(word) for word in words]
    for position, (flag, value) in enumerate(pairwise(words), start=1):
        # A value of its own word may hold spaces, so the flag is looked at with another one.
        if not value.startswith("-") and _is_secret_flag(flag):
            clean[position] = REDACTED
    return clean


def _by_form(content: bytes) -> Iterator[_Span]:
    for found in _FORM.finditer(content):
        if found["signed"] or not found[0].startswith(b"eyJ"):
            yield *found.span(), _HIDDEN


def _by_place(low: bytes, content: bytes) -> Iterator[_Span]:
    """Yield what is secret because of what stands before it. low: the content in lower case."""
    for found in _FLAG.finditer(low):
        if found["value"] and _SECRET_FLAG.search(found[1]):
            yield *found.span("value"), _HIDDEN
    for found in _SETTING.finditer(low):
        yield *found.span("value"), _instead(found)
    for found in _QUERY.finditer(low):
        yield *found.span("value"), _HIDDEN
    yield from _in_headers(low, content)
    yield from _in_addresses(low)


def _in_headers(low: bytes, content: bytes) -> Iterator[_Span]:
    for found in _HEADER.finditer(low):
        group = found.lastgroup or "value"
        start, stop = found.span(group)
        if group != "bearer" or not _WORD.fullmatch(content, start, stop):
            yield start, stop, _HIDDEN


def _in_addresses(low: bytes) -> Iterator[_Span]:
    for found in _ADDRESS.finditer(low):
        start, stop = found.span("value")
        # A password may hold an @ itself: the host comes after the last.
        if (at := low.rfind(b"@", start, stop)) > start:
            yield start, at, _HIDDEN


def _instead(setting: re.Match[bytes]) -> bytes:
    """Return what stands in place of a value: its quotes are kept, so JSON stays JSON."""
    value = setting["value"]
    quote = next((mark for mark in (b'\\"', b'"', b"'") if value.startswith(mark)), b"")
    if not quote and setting["close"] == b'"':
        quote = b'"'
    return quote + _HIDDEN + quote


def _is_secret_flag(word: str) -> bool:
    found = _FLAG.fullmatch(word.lower().encode(errors="surrogatepass"))
    return found is not None and found["value"] is None and bool(_SECRET_FLAG.search(found[1]))


def _is_secret(name: str, value: object) -> bool:
    return _SECRET_NAME.search(name) is not None and not isinstance(value, bool | None)


def _without_secrets(value: object) -> object:
    if isinstance(value, Mapping):
        return redacted(value)
    if isinstance(value, list | tuple):
        if all(isinstance(item, str) for item in value):
            return redacted_words([str(item) for item in value])
        return [_without_secrets(item) for item in value]
    return redacted_text(value) if isinstance(value, str) else value
