"""What the service refuses, or that it is away, is said in the language that was asked for."""

import pytest
import typer

from service.cli.answers.words import Language
from service.cli.connection import AWAY, service
from service.client import RefusedError, ServiceAwayError
from service.formats.problems import Problem

FROZEN = RefusedError(
    Problem(
        type="FrozenBaselineError",
        title="the baseline is frozen: incident 7 (decode worse since nightly-13) is open; "
        "answer it with `kunline incident triage 7`",
        status=409,
    )
)
AWAY_NOW = ServiceAwayError("the service at http://127.0.0.1:1 is away: refused")


@pytest.mark.parametrize(
    ("error", "language", "code", "said"),
    [
        pytest.param(FROZEN, Language.EN, 2, FROZEN.problem.title, id="refused, in English"),
        pytest.param(
            FROZEN,
            Language.ZH,
            2,
            "基线已冻结：事件 7（自 nightly-13 起 decode 退化）尚未结束；"
            "请先用 `kunline incident triage 7` 处置",
            id="refused, in Chinese",
        ),
        pytest.param(
            AWAY_NOW,
            Language.ZH,
            1,
            f"无法连接 http://127.0.0.1:1 的服务：refused\n{AWAY[Language.ZH]}",
            id="away, in Chinese",
        ),
    ],
)
def test_a_refusal_is_told_whole_and_ends_with_its_code(
    error: Exception,
    language: Language,
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(typer.Exit) as ended, service("http://127.0.0.1:1", None, language):
        raise error

    assert ended.value.exit_code == code
    assert capsys.readouterr().err == f"kunline: {said}\n"
