"""`kunline scaling parameters`: what is documented of communication, overlap and graphs."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

import typer

from service.cli.answers.words import Language
from service.cli.connection import AsJson
from service.cli.language import Lang
from service.cli.tables import print_table
from service.domain.parameter import Documented, Family, named
from service.formats.parameters import ParametersFile, catalogue, documented

ENGLISH = MappingProxyType(
    {
        "name": "parameter",
        "family": "turns",
        "values": "values seen",
        "meaning": "meaning",
        "source": "source (grade)",
        "caution": "caution: {caution}",
        "alone": "{name}: {meaning} {caution} ({source}, grade {grade})",
        "grades": "Grades: A vendor or upstream, B third-party code, C field report, D issue. None "
        "was run here on a card, and no value is a recommendation: measure it with "
        "kunline experiment PLAN --set NAME=default,VALUE",
    }
)
CHINESE = MappingProxyType(
    {
        "name": "参数",
        "family": "类别",
        "values": "见过的取值",
        "meaning": "含义",
        "source": "来源（等级）",
        "caution": "注意：{caution}",
        "alone": "{name}：{meaning}{caution}（{source}，等级 {grade}）",
        "grades": "等级：A 厂商或上游，B 第三方代码，C 现场报告，D issue。均未在卡上运行过，"
        "取值并非推荐：请用 kunline experiment PLAN --set NAME=default,VALUE 测量",
    }
)
CATALOGUES: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {Language.EN: ENGLISH, Language.ZH: CHINESE}
)
COLUMNS = ("name", "family", "values", "meaning", "source")


def show_parameters(
    family: Annotated[Family | None, typer.Option(help="Only these.")] = None,
    lang: Lang = Language.EN,
    *,
    json: AsJson = False,
) -> None:
    """List the documented parameters of communication, overlap and graphs, with their sources.

    Example: kunline scaling parameters --family xccl
    """
    if json:
        rows = [each for each in catalogue().parameters if family in {None, each.family}]
        typer.echo(ParametersFile(parameters=tuple(rows)).model_dump_json())
        return
    words, told = CATALOGUES[lang], documented(chinese=lang is Language.ZH)
    found = [each for each in told if family in {None, each.family}]
    print_table([words[name] for name in COLUMNS], [_row(each, words) for each in found])
    typer.echo(words["grades"])


def caution_of(name: str, language: Language) -> str:
    """Return what to mind before a parameter is tried, with its source; nothing where nothing is.

    name: as it is given to an experiment.
    """
    found = named(name, documented(chinese=language is Language.ZH))
    if found is None or not found.caution:
        return ""
    return CATALOGUES[language]["alone"].format(
        name=found.name,
        meaning=found.meaning,
        caution=found.caution,
        source=found.source,
        grade=found.grade,
    )


def _row(found: Documented, words: Mapping[str, str]) -> tuple[str, ...]:
    caution = f" {words['caution'].format(caution=found.caution)}" if found.caution else ""
    return (
        found.name,
        found.family,
        ", ".join(found.values),
        found.meaning + caution,
        f"{found.source} ({found.grade})",
    )
