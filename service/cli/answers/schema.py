"""The published JSON schema of a gate's answer: write it, or say that it is stale."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from service.formats.gate_answers import GateAnswer

COPY = Path(__file__).resolve().parents[3] / "docs" / "gate-answer.schema.json"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def description() -> str:
    """Return the schema as it is committed."""
    schema = GateAnswer.model_json_schema(mode="serialization")
    whole = {"$schema": DIALECT, **_open(schema)}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    """Write the schema, or with --check return 1 where it is not what the code says."""
    parser = argparse.ArgumentParser(prog="python -m service.cli.answers.schema")
    parser.add_argument("--check", action="store_true", help="change nothing; 1 where it is stale")
    wanted = description()
    if not parser.parse_args().check:
        COPY.write_text(wanted)
        return 0
    if COPY.is_file() and COPY.read_text() == wanted:
        return 0
    sys.stderr.write(f"{COPY.name} is stale: python -m service.cli.answers.schema writes it anew\n")
    return 1


def _open(schema: Any) -> Any:
    """Return a schema that lets further fields in: a later minor version may add some."""
    if isinstance(schema, dict):
        kept = {key: _open(each) for key, each in schema.items() if key != "additionalProperties"}
        return kept | ({"additionalProperties": True} if "additionalProperties" in schema else {})
    return [_open(each) for each in schema] if isinstance(schema, list) else schema


if __name__ == "__main__":
    sys.exit(main())
