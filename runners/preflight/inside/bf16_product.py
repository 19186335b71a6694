"""Multiply two small bfloat16 matrices with this Python's torch and check every value.

Run by path with a measured environment's Python; standard library and torch, Python 3.8 syntax.
Prints one JSON line: {"works", "seen"}.
"""

import ctypes
import importlib
import json
import signal
import sys

PR_SET_PDEATHSIG = 1
SIZE = 64


def main() -> int:
    """Compare the product with one made of whole numbers, which bfloat16 holds exactly."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    torch = importlib.import_module("torch")
    rows = torch.arange(SIZE, dtype=torch.float32).remainder(3)
    left = rows.repeat(SIZE, 1)
    right = torch.eye(SIZE) * 2
    product = (left.to(torch.bfloat16) @ right.to(torch.bfloat16)).to(torch.float32)
    works = bool(torch.equal(product, left * 2))
    seen = f"torch {torch.__version__}: a {SIZE} x {SIZE} bfloat16 product"
    seen += " is right" if works else f" is wrong: its first row is {product[0].tolist()}"
    sys.stdout.write(json.dumps({"works": works, "seen": seen}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
