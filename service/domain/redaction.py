"""What is secret in texts and documents, and what is left in its place.

Whatever a runner keeps or sends goes through here before it is on a disk: logs, what a server says
of itself, environments, command lines, the words of errors. A secret is known by its name, by
where it stands (a header, an address) or by a form that nothing else has.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

REDACTED = "<redacted>"

# Secret by name: a key, a password, a secret or a credential, or a token that opens a door.
# Counts of tokens and tokenizers are not, nor is where a public key lies.
_SECRET_NAME = re.compile(
    r"(^|[_-])keys?([_-]|$)|api_?key|keyfile|passw|passphrase|secret|credential|bearer|cookie"
    r"|(^|[_-])authorization$|(^|[_-])pw?d$"
    r"|(^|[_-])(auth|access|hf|hub|hugging_?face|api|refresh|session|id|bot|kunline|github|gitlab|"
    r"pypi|modelscope|wandb|bearer|vault)[_-]?(api[_-]?)?token$|^token$",
    re.IGNORECASE,
)
_DOOR = (
    r"(?:api[_-]?key|secret(?:[_-](?:access[_-])?key)?|password|passwd|passphrase|credentials?"
    r"|(?:auth|access|hf|hub|hugging_?face(?:_hub)?|api|refresh|session|id|bot|kunline|github"
    r"|gitlab|pypi|modelscope|vault)[_-]?token|private[_-]key|access[_-]key)"
)
_SECRET_FLAG = re.compile(
    r"(--[\w-]*(?:key|passw|secret|credential|auth-token|access-token|hf-token|hub-token|api-token)"
    r"[\w-]*|--token)(=|\s+)(?!-)(\"[^\"]*\"|'[^']*'|\S+)",
    re.IGNORECASE,
)
# As a program prints its settings: api_key='…', HF_TOKEN=…, "password": "…". A bare 'key' is not
# taken for one here: logs name the keys of maps.
_SECRET_SETTING = re.compile(
    r"((?:\b|_)" + _DOOR + r"[\\]?[\"']?\s*[=:]\s*)"
    r"(?!(?:None|null|True|true|False|false)\b)(?!<redacted>)"
    r"(\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\\"[^\"]*\\\"|[^\s,;&)}\]\"']+)",
    re.IGNORECASE,
)
_SECRET_HEADER = re.compile(
    r"(\bAuthorization[\"']?\s*[:=]\s*[\"']?(?:\w+\s+)?+|\bBearer\s+|\bX-(?:Api-Key|Auth-Token)"
    r"[\"']?\s*[:=]\s*[\"']?|\b(?:Set-)?Cookie[\"']?:\s*[\"']?)(?!<redacted>)[^\s,;)}\]\"']+",
    re.IGNORECASE,
)
_SECRET_IN_URL = re.compile(r"(?<=://)[^/\s@\"'<>]+(?=@)")
_SECRET_IN_QUERY = re.compile(
    r"([?&](?:token|key|sig|signature|x-amz-(?:signature|credential|security-token))=)"
    r"(?!<redacted>)[^&\s\"'<>]+",
    re.IGNORECASE,
)
# Forms that only keys have: of model hubs, of code hosts, of clouds, of chat services, of APIs,
# our own, signed web tokens, and private keys as text.
_SECRET_FORM = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{16,}|gh[opsur]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|pypi-[\w-]{32,}|(?:AKIA|ASIA)[0-9A-Z]{16}|xox[abeprs]-[\w-]{10,}|sk-[\w-]{16,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,})(?![\w-])"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    re.DOTALL,
)


def redacted(document: Mapping[str, object]) -> dict[str, object]:
    """Return a copy without secrets: by their names, in command lines and in addresses.

    Null and booleans stay, so it can still be seen whether one was set at all.
    """
    return {
        name: REDACTED if _is_secret(name, value) else _without_secrets(value)
        for name, value in document.items()
    }


def redacted_text(text: str) -> str:
    """Return a text without secrets: of flags, settings, headers and addresses, and keys by form.

    A text that holds none is returned as it is.
    """
    text = _SECRET_FORM.sub(REDACTED, text)
    text = _SECRET_FLAG.sub(rf"\1\2{REDACTED}", text)
    text = _SECRET_HEADER.sub(rf"\1{REDACTED}", text)
    text = _SECRET_SETTING.sub(_hidden, text)
    text = _SECRET_IN_QUERY.sub(rf"\1{REDACTED}", text)
    return _SECRET_IN_URL.sub(REDACTED, text)


def redacted_bytes(content: bytes) -> bytes:
    """Return a file's content without secrets; byte for byte the same where it holds none."""
    text = content.decode("utf-8", errors="surrogateescape")
    clean = redacted_text(text)
    return content if clean == text else clean.encode("utf-8", errors="surrogateescape")


def redacted_words(words: Sequence[str]) -> list[str]:
    """Return the words of a command line without secrets: a flag's value may be the next word."""
    clean = [redacted_text(word) for word in words]
    for position, (flag, value) in enumerate(pairwise(words), start=1):
        # A value of its own word may hold spaces, so the flag is looked at with another one.
        if not value.startswith("-") and _SECRET_FLAG.fullmatch(f"{flag} value"):
            clean[position] = REDACTED
    return clean


def _hidden(found: re.Match[str]) -> str:
    """Return a setting with its value hidden and its quotes kept, so JSON stays JSON."""
    name, value = found[1], found[2]
    quote = next((mark for mark in ('\\"', '"', "'") if value.startswith(mark)), "")
    if not quote and name.rstrip(" \t:=").endswith('"'):
        quote = '"'
    return f"{name}{quote}{REDACTED}{quote}"


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
