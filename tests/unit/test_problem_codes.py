"""The codes of what may be wrong with a file: a closed list, and the document tells all of it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from service.formats.tools import tool
from service.formats.tools.problem_codes import ProblemCode
from tests.tracked_files import ROOT

DOCUMENT = ROOT / "docs" / "reading.md"
CODE_IN_TABLE = re.compile(r"^\| `([a-z0-9_]+)` \|", re.MULTILINE)


def test_the_document_lists_exactly_the_codes_there_are() -> None:
    told = DOCUMENT.read_text().partition("## What may be wrong")[2]

    assert sorted(CODE_IN_TABLE.findall(told)) == sorted(ProblemCode)


def test_no_problem_is_told_with_a_code_of_its_own() -> None:
    folder = Path(tool.__file__).parent
    spelt = {
        f"{path.name}:{code.lineno}"
        for path in sorted(folder.glob("*.py"))
        for code in _codes(ast.parse(path.read_text()))
        if isinstance(code, ast.Constant)
    }

    assert not spelt


def _codes(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="Problem"), args=[_, code, *_]):
                yield code
