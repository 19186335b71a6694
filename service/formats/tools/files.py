"""Opening result files: whatever stands in the way has its own code, and nothing makes it wait."""

import errno
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from service.formats.tools.lines import Stream
from service.formats.tools.problem_codes import ProblemCode

# What a shell hands over, such as <(command): to wait for it is what the person asked for.
_HANDED_OVER = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
_EMPTY_FOLDER = "a folder in which no result file lies; a CSV in it needs --mapping"
_CODES = {
    errno.ENOENT: (ProblemCode.NO_SUCH_FILE, "no such file"),
    errno.ENOTDIR: (ProblemCode.NO_SUCH_FILE, "no such file: a part of its path is not a folder"),
    errno.EACCES: (ProblemCode.NO_PERMISSION, "you may not read it: ask its owner"),
    errno.EPERM: (ProblemCode.NO_PERMISSION, "you may not read it: ask its owner"),
    errno.ELOOP: (ProblemCode.SYMLINK_LOOP, "its symbolic links lead in a circle: mend the link"),
}


class CannotOpenError(OSError):
    """A file is not there, may not be read, or is none."""

    def __init__(self, code: ProblemCode, message: str) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def opened(path: Path) -> Iterator[Stream]:
    """Open a file to read its bytes; what is no file is refused before it could make one wait.

    Raises CannotOpenError.
    """
    try:
        _require_file(path)
        stream = path.open("rb")
    except CannotOpenError:
        raise
    except (OSError, ValueError) as error:
        raise _cannot_open(error) from error
    with stream:
        yield stream


def _require_file(path: Path) -> None:
    mode = path.stat().st_mode
    if stat.S_ISREG(mode) or str(path).startswith(_HANDED_OVER):
        return
    if stat.S_ISDIR(mode):
        code, message = ProblemCode.FOLDER_WITHOUT_RESULTS, _EMPTY_FOLDER
    else:
        code, message = ProblemCode.NOT_A_FILE, "a pipe, socket or device: pipe its content to `-`"
    raise CannotOpenError(code, message)


def _cannot_open(error: OSError | ValueError) -> CannotOpenError:
    if not isinstance(error, OSError):
        return CannotOpenError(ProblemCode.CANNOT_OPEN, str(error))
    reason = error.strerror or str(error)
    return CannotOpenError(*_CODES.get(error.errno or 0, (ProblemCode.CANNOT_OPEN, reason)))
