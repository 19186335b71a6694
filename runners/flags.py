"""Asks the servers of some stacks for their flags: `python -m runners.flags`.

stdin: a JSON list of questions; stdout: a JSON list of answers, in the same order. stderr is for
the person who waits. Settings are the runner's, so its cache is looked into.
"""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from runners.config import Settings
from runners.refusal import wrong
from runners.stacks.environment import BUILD_ERRORS, Environment, Recipe, build, built
from runners.stacks.measured import ProbeError
from runners.stacks.server_flags import server_flags
from service.domain.redaction import redacted_text
from service.formats.stack_differences import FlagsAnswer, FlagsQuestion

QUESTIONS = TypeAdapter(tuple[FlagsQuestion, ...])
ANSWERS = TypeAdapter(tuple[FlagsAnswer, ...])
# A cheap machine imports two servers at once; more would only wait for one another.
AT_ONCE = 2


def main() -> int:
    """Answer the questions on stdin; a stack that cannot be asked is an answer as well."""
    try:
        settings = Settings()
        questions = QUESTIONS.validate_json(sys.stdin.buffer.read())
    except ValidationError as error:
        return wrong("these settings or questions", error)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        found = tuple(threads.map(partial(answered, cache=settings.cache_dir), questions))
    sys.stdout.buffer.write(ANSWERS.dump_json(found))
    return 0


def answered(question: FlagsQuestion, *, cache: Path) -> FlagsAnswer:
    """Return what a stack's server tells of its flags, or why that is not known."""
    try:
        environment = _environment(question, cache)
        if environment is None:
            return FlagsAnswer(unknown=f"stack {question.stack} is not built here")
        return server_flags(environment.python, cache=cache, variables=os.environ)
    except (*BUILD_ERRORS, ProbeError, TimeoutError) as error:
        return FlagsAnswer(unknown=f"stack {question.stack}: {redacted_text(str(error))}")


def _environment(question: FlagsQuestion, cache: Path) -> Environment | None:
    recipe = Recipe(question.lock, question.torch, question.platform)
    found = built(recipe, cache=cache)
    if found is not None or not question.build:
        return found
    deadline = time.monotonic() + question.limit_s

    def progress(text: str, _fraction: float | None) -> None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"not built within {question.limit_s:.0f} s; the last step: {text}")
        sys.stderr.write(f"kunline: {question.stack}: {redacted_text(text)}\n")

    return build(recipe, cache=cache, variables=os.environ, progress=progress)


if __name__ == "__main__":
    sys.exit(main())
