"""Prints what is installed beside this Python, as one line of JSON.

Run by path with a measured environment's Python and never installed there, so: the standard
library alone, in the syntax of Python 3.8.
"""

import json
import platform
import re
import sys
from importlib import metadata


def main() -> None:
    """Print the Python's release and each distribution's version by its settled name."""
    versions = {}
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"]
        if name:
            versions[re.sub(r"[-_.]+", "-", name).lower()] = distribution.version
    json.dump({"python": platform.python_version(), "versions": versions}, sys.stdout)


if __name__ == "__main__":
    main()
