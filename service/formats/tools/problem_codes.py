"""The closed list of what may be wrong with a file or a part of it, each with its stable code."""

from enum import StrEnum


class ProblemCode(StrEnum):
    """Stable codes: scripts may rely on them, so one is never renamed and never reused."""

    # The file as such: none of it was read.
    NO_SUCH_FILE = "no_such_file"
    NO_PERMISSION = "no_permission"
    SYMLINK_LOOP = "symlink_loop"
    FOLDER_WITHOUT_RESULTS = "folder_without_results"
    NOT_A_FILE = "not_a_file"
    CANNOT_OPEN = "cannot_open"
    EMPTY = "empty"
    LFS_POINTER = "lfs_pointer"
    PACKED = "packed"
    UTF16 = "utf16"
    UNKNOWN_TEXT = "unknown_text"

    # A part of it: everything else in the file is read.
    BINARY = "binary"
    DAMAGED_GZIP = "damaged_gzip"
    READ_FAILED = "read_failed"
    NOT_UTF8 = "not_utf8"
    TRUNCATED = "truncated"
    NOT_JSON = "not_json"
    NOT_AN_OBJECT = "not_an_object"
    TOO_LARGE = "too_large"
    TOO_MANY_PROBLEMS = "too_many_problems"
    UNKNOWN_TOOL = "unknown_tool"
    MALFORMED = "malformed"

    # An object or a file of a known tool that holds no result.
    ARGUMENTS_ONLY = "arguments_only"
    NOT_A_RESULT = "not_a_result"
    NO_RESULTS = "no_results"

    # What a tool wrote cannot be told from what the file says.
    UNKNOWN_UNIT = "unknown_unit"

    # Rows with commas.
    NOT_CSV = "not_csv"
    MISSING_COLUMN = "missing_column"
    WRONG_CELL = "wrong_cell"
    WRONG_ROW = "wrong_row"
