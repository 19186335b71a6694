"""Looks up in the installed SGLang all that a plugin hooks, replaces or imports of it.

Run by path with a measured environment's Python; standard library alone, Python 3.8 syntax.
argv: a search path (os.pathsep between its folders, may be empty), then names of distributions.
Nothing is imported: the plugin's code and SGLang's are read. What SGLang does not have is what it
would only log, and serve on without (its hook_registry.py). Prints one JSON line:
{"resolved": N, "unresolved": [{"file", "line", "target", "why"}], "unreadable": [the same]}.
"""

from __future__ import annotations

import ast
import ctypes
import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, Optional

PR_SET_PDEATHSIG = 1
ROOT = "sglang"
LATER = "import of a function, which fails only where it is called"
FILE_BYTES_MAX = 4 * 2**20
FILES_MAX = 5000
DEPTH_MAX = 12

# Calls that take a module and a name; those of hooks take one dotted target.
PAIRS = re.compile(r"^(register|replace|patch)_\w*(op|symbol|kernel|fn|func|function)s?$")

Function = (ast.FunctionDef, ast.AsyncFunctionDef)


class UnreadableError(Exception):
    """What a name stands for shows only when the code runs."""


class MissingError(Exception):
    """The installed code has no such name; the words say from where on."""


class Target(NamedTuple):
    """One name that a plugin asks for: where it does, and what for."""

    file: str
    line: int
    name: Optional[str]  # noqa: UP045 — read at run time, and older Pythons have no other way
    why: str

    def told(self, why: str) -> dict[str, Any]:
        """Return the target as it is printed."""
        target = self.name or "a name that is put together as it runs"
        return {"file": self.file, "line": self.line, "target": target, "why": why}


class Installed:
    """The code on a search path, read module by module, each once."""

    def __init__(self, path: list[str]) -> None:
        self.path = path
        self.trees: dict[str, ast.Module | None] = {}

    def file(self, module: str) -> Path | None:
        """Return a module's file, or a package's folder where it is one without a file."""
        relative = module.replace(".", "/")
        for folder in self.path:
            base = Path(folder, relative)
            for found in (base / "__init__.py", base.with_name(base.name + ".py")):
                if found.is_file():
                    return found
            if base.is_dir():
                return base
            if base.parent.is_dir() and any(base.parent.glob(base.name + ".*.so")):
                raise UnreadableError(f"{module} is compiled")
        return None

    def resolve(self, dotted: str, depth: int = 0) -> None:
        """Look a dotted name up. Raises MissingError, UnreadableError."""
        if depth > DEPTH_MAX:
            raise UnreadableError("its imports go round")
        parts = dotted.split(".")
        for length in range(len(parts), 0, -1):
            module = ".".join(parts[:length])
            if self.file(module) is not None:
                if length < len(parts):
                    self._in_module(module, parts[length:], depth)
                return
        raise MissingError(f"no module {parts[0]} is installed")

    def tree(self, module: str) -> ast.Module | None:
        """Return a module's syntax tree; None for a folder without a file."""
        if module not in self.trees:
            file = self.file(module)
            self.trees[module] = parsed(file) if file is not None and file.is_file() else None
        return self.trees[module]

    def _in_module(self, module: str, names: list[str], depth: int) -> None:
        bound = self._bound(module, names[0], set())
        if bound is None:
            raise MissingError(f"{module} has no {names[0]}")
        self._in(bound, module, names, depth)

    def _in(self, bound: Any, module: str, names: list[str], depth: int) -> None:
        if len(names) == 1:
            return
        if isinstance(bound, ast.ClassDef):
            self._in_class(bound, module, names[1], depth)
        elif isinstance(bound, str):
            self.resolve(".".join([bound, *names[1:]]), depth + 1)
        elif isinstance(bound, Function):
            raise MissingError(f"{module}.{names[0]} is a function")
        else:
            raise UnreadableError(f"{module}.{names[0]} is a value")

    def _bound(self, module: str, name: str, seen: set[str]) -> Any:
        """Return what a module binds a name to: a definition, a dotted name or a value."""
        tree = self.tree(module)
        if tree is None or module in seen:
            return None
        seen.add(module)
        stars, lazy, found = [], False, None
        for node in statements(tree.body):
            if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names):
                stars.append(absolute(module, self._is_package(module), node))
            lazy = lazy or (isinstance(node, Function) and node.name == "__getattr__")
            found = binding(node, name, module, self._is_package(module)) or found
        for star in stars:
            found = found or self._bound(star, name, seen)
        if found is None and lazy:
            raise UnreadableError(f"{module} makes its names as it runs")
        return found

    def _is_package(self, module: str) -> bool:
        file = self.file(module)
        return file is not None and file.name == "__init__.py"

    def _in_class(self, node: ast.ClassDef, module: str, name: str, depth: int) -> None:
        if any(binding(each, name, module, False) for each in statements(node.body)):
            return
        unknown = ""
        for base in node.bases:
            words = dotted_name(base)
            try:
                if words is not None:
                    where = self._bound(module, words.split(".")[0], set())
                    self._in_base(where, module, words, name, depth)
                    return
                unknown = f"a base of {node.name} is put together as it runs"
            except MissingError:
                continue
            except UnreadableError as error:
                unknown = str(error)
        if unknown:
            raise UnreadableError(unknown)
        raise MissingError(f"{module}.{node.name} has no {name}")

    def _in_base(self, where: Any, module: str, words: str, name: str, depth: int) -> None:
        if isinstance(where, ast.ClassDef):
            self._in_class(where, module, name, depth + 1)
        elif isinstance(where, str):
            whole = ".".join([where, *words.split(".")[1:]])
            if not whole.startswith(ROOT + "."):
                raise UnreadableError(f"it may come from {whole}")
            self.resolve(whole + "." + name, depth + 1)
        elif words in {"object", "ABC", "Enum", "Protocol", "Generic"}:
            raise MissingError(words)
        else:
            raise UnreadableError(f"it may come from {words}")


class Asked:
    """Reads one file of a plugin for what it asks of SGLang."""

    def __init__(self, file: str, module: str, is_package: bool, tree: ast.Module) -> None:
        self.file = file
        self.module = module
        self.is_package = is_package
        self.tree = tree
        self.texts = constants(tree)

    def targets(self) -> Iterator[Target]:
        """Return every target in the order of the file's lines."""
        guarded = inside_try(self.tree)
        at_import = set(statements(self.tree.body))
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                yield from self._of_call(node)
            elif isinstance(node, ast.ImportFrom) and node not in guarded:
                yield from self._of_import(node, "import" if node in at_import else LATER)

    def _of_call(self, node: ast.Call) -> Iterator[Target]:
        called = dotted_name(node.func) or ""
        last = called.rsplit(".", 1)[-1]
        if last == "plugin_hook" or called.endswith("HookRegistry.register"):
            word = argument(node, 0, "target")
            if word is not None:
                yield self._target(node, [word], "hook")
        elif PAIRS.match(last):
            module, name = argument(node, 0, "module"), argument(node, 1, "name")
            if module is not None and name is not None:
                target = self._target(node, [module, name], "replaced symbol")
                if target.name is None or target.name.startswith(ROOT + "."):
                    yield target

    def _target(self, node: ast.Call, words: list[ast.expr], why: str) -> Target:
        texts = [text_of(word, self.texts) for word in words]
        name = None if None in texts else ".".join(filter(None, texts))
        return Target(self.file, node.lineno, name, why)

    def _of_import(self, node: ast.ImportFrom, why: str) -> Iterator[Target]:
        module = absolute(self.module, self.is_package, node)
        if module == ROOT or module.startswith(ROOT + "."):
            for alias in node.names:
                name = module if alias.name == "*" else module + "." + alias.name
                yield Target(self.file, node.lineno, name, why)


def main() -> int:
    """Read the plugins named and print what of SGLang they would not find."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    extra = [folder for folder in sys.argv[1].split(os.pathsep) if folder]
    installed = Installed(extra + [folder for folder in sys.path if folder])
    told: dict[str, Any] = {"resolved": 0, "unresolved": [], "unreadable": []}
    for name in sys.argv[2:]:
        for target in asked_by(name, installed):
            place(target, installed, told)
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


def place(target: Target, installed: Installed, told: dict[str, Any]) -> None:
    """Put a target where it belongs."""
    if target.name is None or not target.name.startswith(ROOT):
        why = target.why if target.name is None else "it is not SGLang's"
        told["unreadable"].append(target.told(why))
        return
    try:
        installed.resolve(target.name)
        told["resolved"] += 1
    except MissingError as error:
        where = told["unreadable" if target.why == LATER else "unresolved"]
        where.append(target.told(f"{target.why}: {error}"))
    except UnreadableError as error:
        told["unreadable"].append(target.told(f"{target.why}: {error}"))


def asked_by(distribution: str, installed: Installed) -> Iterator[Target]:
    """Return the targets in a distribution's code, file by file."""
    for module, file in sources(distribution, installed):
        try:
            tree = parsed(file)
        except (SyntaxError, ValueError, OSError) as error:
            yield Target(str(file), getattr(error, "lineno", 0) or 0, None, f"not read: {error}")
            continue
        yield from Asked(str(file), module, file.name == "__init__.py", tree).targets()


def sources(distribution: str, installed: Installed) -> list[tuple[str, Path]]:
    """Return the modules of a distribution with their files."""
    found = []
    for top in tops(distribution):
        file = installed.file(top)
        if file is None or file.name == f"{top}.py":
            found += [(top, file)] if file else []
            continue
        folder = file if file.is_dir() else file.parent
        for each in sorted(folder.rglob("*.py"))[:FILES_MAX]:
            parts = each.relative_to(folder.parent).with_suffix("").parts
            found.append((".".join(parts).replace(".__init__", ""), each))
    return found


def tops(distribution: str) -> list[str]:
    """Return the top modules of a distribution: those of its entry points, and its own list."""
    names = {re.sub(r"[-.]+", "_", distribution)}
    try:
        there = metadata.distribution(distribution)
    except metadata.PackageNotFoundError:
        return sorted(names)
    names.update((there.read_text("top_level.txt") or "").split())
    names.update(re.split("[.:]", point.value)[0] for point in there.entry_points)
    return sorted(names)


def parsed(file: Path) -> ast.Module:
    """Return a file's syntax tree. Raises SyntaxError, ValueError and OSError."""
    with file.open("rb") as stream:
        content = stream.read(FILE_BYTES_MAX + 1)
    if len(content) > FILE_BYTES_MAX:
        raise ValueError(f"larger than {FILE_BYTES_MAX} bytes")
    return ast.parse(content, str(file))


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Return the statements of a body and of the branches in it, functions and classes closed."""
    for node in body:
        yield node
        if not isinstance(node, (*Function, ast.ClassDef)):
            for name in ("body", "orelse", "finalbody"):
                yield from statements(getattr(node, name, []))
            for handler in getattr(node, "handlers", []):
                yield from statements(handler.body)


def binding(node: ast.stmt, name: str, module: str, is_package: bool) -> Any:
    """Return what a statement binds a name to: a definition, a dotted name or the statement."""
    if isinstance(node, (*Function, ast.ClassDef)):
        return node if node.name == name else None
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        before = "" if isinstance(node, ast.Import) else absolute(module, is_package, node) + "."
        for alias in node.names:
            here = alias.name.split(".")[0] if not before else alias.name
            if (alias.asname or here) == name:
                return before + (alias.name if alias.asname else here)
        return None
    return node if name in assigned(node) else None


def assigned(node: ast.stmt) -> set[str]:
    """Return the names that a statement gives a value to."""
    targets: list[Any] = list(node.targets) if isinstance(node, ast.Assign) else []
    declared = isinstance(node, ast.AnnAssign) and node.value is not None
    if declared or isinstance(node, (ast.For, ast.AugAssign)):
        targets = [getattr(node, "target", None)]
    return {
        inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)
    }


def absolute(module: str, is_package: bool, node: ast.ImportFrom) -> str:
    """Return the whole name of the module that an import takes from."""
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    kept = len(parts) - node.level + (1 if is_package else 0)
    return ".".join(parts[:kept] + ([node.module] if node.module else []))


def inside_try(tree: ast.Module) -> set[ast.AST]:
    """Return the nodes that are tried, or meant for a type checker: their failure is expected."""
    return {
        inner
        for node in ast.walk(tree)
        if (isinstance(node, ast.Try) and node.handlers)
        or (isinstance(node, ast.If) and (dotted_name(node.test) or "").endswith("TYPE_CHECKING"))
        for inner in ast.walk(node)
    }


def constants(tree: ast.Module) -> dict[str, str]:
    """Return the texts that a module's names are given once, at its top."""
    texts: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            text = text_of(node.value, texts)
            if text is not None:
                texts[node.targets[0].id] = text
    return texts


def text_of(node: ast.expr, texts: dict[str, str]) -> str | None:
    """Return the text that an expression is, or None where only running it tells."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Name):
        return texts.get(node.id)
    if isinstance(node, ast.FormattedValue):
        return text_of(node.value, texts)
    pieces = node.values if isinstance(node, ast.JoinedStr) else []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        pieces = [node.left, node.right]
    parts = [text_of(piece, texts) for piece in pieces]
    known = [part for part in parts if part is not None]
    return "".join(known) if parts and len(known) == len(parts) else None


def argument(node: ast.Call, position: int, name: str) -> ast.expr | None:
    """Return a call's argument by position or by name."""
    if len(node.args) > position:
        return node.args[position]
    return next((word.value for word in node.keywords if word.arg == name), None)


def dotted_name(node: ast.AST) -> str | None:
    """Return 'a.b.c' for such an expression, else None. A subscript counts as what it is of."""
    if isinstance(node, ast.Subscript):
        return dotted_name(node.value)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted_name(node.value)
        return None if before is None else before + "." + node.attr
    return None


if __name__ == "__main__":
    sys.exit(main())
