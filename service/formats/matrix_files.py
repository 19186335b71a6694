"""The matrix directory: every file of it read, every problem kept with the file it is in."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel

from service.formats.build_sections import BuildSection
from service.formats.client_files import ClientFile
from service.formats.lock_files import Lock, read_lock
from service.formats.model_files import ModelFile
from service.formats.plan_files import PlanFile
from service.formats.policy_files import PolicyFile
from service.formats.spelling import hint
from service.formats.stack_files import StackFile
from service.formats.workload_files import WorkloadFile
from service.formats.yaml_file import (
    WHOLE,
    FileProblem,
    FileProblemsError,
    YamlFile,
    read_yaml,
)

MAX_FILES = 2000
POLICY = "policy.yaml"
_FOREIGN = frozenset({".yml", ".json"})


Shape = TypeVar("Shape", bound=BaseModel)


class UnknownFileError(LookupError):
    """No file of a kind has this name."""


@dataclass(frozen=True, slots=True)
class Shelf(Generic[Shape]):
    """All files of one kind by name. broken: those that could not be read, and why."""

    kind: str
    files: Mapping[str, YamlFile[Shape]]
    broken: Mapping[str, tuple[FileProblem, ...]]

    def named(self, name: str) -> YamlFile[Shape]:
        """Return a file. Raises UnknownFileError, or FileProblemsError for a broken one."""
        if name in self.broken:
            raise FileProblemsError(self.broken[name])
        if name not in self.files:
            known = hint(name, {*self.files, *self.broken})
            raise UnknownFileError(f"no {self.kind} {name!r}; {known}")
        return self.files[name]


@dataclass(frozen=True, slots=True)
class Matrix:
    """A whole matrix directory. locks: by the path of the stack or client file that builds it."""

    root: Path
    stacks: Shelf[StackFile]
    models: Shelf[ModelFile]
    workloads: Shelf[WorkloadFile]
    clients: Shelf[ClientFile]
    plans: Shelf[PlanFile]
    policy: YamlFile[PolicyFile]
    locks: Mapping[str, Lock]
    problems: tuple[FileProblem, ...]


def read_matrix(root: Path) -> Matrix:
    """Return all files under a matrix directory; problems are in it, never raised.

    Raises FileProblemsError when there is no such directory.
    """
    if not root.is_dir():
        problem = FileProblem(
            str(root), WHOLE, "", "no such directory; --matrix or KUNLINE_MATRIX_DIR names another"
        )
        raise FileProblemsError([problem])
    locks: dict[str, Lock] = {}
    stacks = _with_locks(root, _shelf(root, "stack", StackFile), locks)
    clients = _with_locks(root, _shelf(root, "client", ClientFile), locks)
    models = _shelf(root, "model", ModelFile)
    workloads = _shelf(root, "workload", WorkloadFile)
    plans = _shelf(root, "plan", PlanFile)
    policy, policy_problems = _policy(root / POLICY)
    shelves = (stacks, models, workloads, clients, plans)
    broken = [problem for shelf in shelves for found in shelf.broken.values() for problem in found]
    # A lock that two files name is wrong once.
    problems = tuple(dict.fromkeys((*broken, *policy_problems)))
    return Matrix(root, stacks, models, workloads, clients, plans, policy, locks, problems)


def _shelf(root: Path, kind: str, shape: type[Shape]) -> Shelf[Shape]:
    files: dict[str, YamlFile[Shape]] = {}
    broken: dict[str, tuple[FileProblem, ...]] = {}
    found = sorted((root / f"{kind}s").glob("*"))
    for path in found[:MAX_FILES]:
        if path.suffix in _FOREIGN:
            broken[path.name] = (FileProblem(str(path), 1, "", f"name it {path.stem}.yaml"),)
        if path.suffix != ".yaml":
            continue
        try:
            files[path.stem] = _read_named(path, shape)
        except FileProblemsError as error:
            broken[path.stem] = error.problems
    return Shelf(kind, files, broken)


def read_plan(path: Path) -> YamlFile[PlanFile]:
    """Return a plan file that may lie anywhere. Raises FileProblemsError."""
    return _read_named(path, PlanFile)


def read_stack(path: Path) -> tuple[YamlFile[StackFile], Lock | None]:
    """Return a stack file that may lie anywhere, and the lock beside it that builds it.

    Raises FileProblemsError.
    """
    file = _read_named(path, StackFile)
    return file, _lock(path.parent, file)


def _read_named(path: Path, shape: type[Shape]) -> YamlFile[Shape]:
    read = read_yaml(path, shape)
    name = getattr(read.shape, "name", None)
    if name != path.stem:
        message = f"{name!r} is not the file's name, {path.stem!r}"
        raise FileProblemsError([read.problem(message, "name")])
    return read


def _policy(path: Path) -> tuple[YamlFile[PolicyFile], tuple[FileProblem, ...]]:
    try:
        return read_yaml(path, PolicyFile), ()
    except FileProblemsError as error:
        return YamlFile(str(path), PolicyFile(), {}), error.problems


BuiltShape = TypeVar("BuiltShape", bound=StackFile | ClientFile)


def _with_locks(root: Path, shelf: Shelf[BuiltShape], locks: dict[str, Lock]) -> Shelf[BuiltShape]:
    files: dict[str, YamlFile[BuiltShape]] = {}
    broken = dict(shelf.broken)
    for name, file in shelf.files.items():
        try:
            lock = _lock(root, file)
        except FileProblemsError as error:
            broken[name] = error.problems
            continue
        files[name] = file
        if lock is not None:
            locks[file.shown] = lock
    return Shelf(shelf.kind, files, broken)


def _lock(root: Path, file: YamlFile[BuiltShape]) -> Lock | None:
    shape = file.shape
    if not isinstance(shape.build, BuildSection):
        return None
    path = Path(file.shown).parent / shape.build.lock
    if not path.resolve().is_relative_to(root.resolve()):
        raise FileProblemsError([file.problem("lies outside the matrix", "build", "lock")])
    if not path.is_file():
        known = hint(path.name, (near.name for near in path.parent.glob("*.lock")))
        raise FileProblemsError([file.problem(f"no such file; {known}", "build", "lock")])
    lock = read_lock(path)
    if isinstance(shape, StackFile) and (unlike := shape.unlike(lock)):
        raise FileProblemsError(
            [
                file.problem(f"the lock pins {version}", "components", position, "version")
                for position, version in unlike.items()
            ]
        )
    return lock
