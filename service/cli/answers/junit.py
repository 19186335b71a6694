"""An answer as JUnit XML, as Jenkins, GitLab and others read it: a suite a cell, a case a metric.

A case fails or errs only where the gate's exit code is not 0: what is inconclusive and lets pass,
only informs, is waived or known is skipped, with its sentence.
"""

from itertools import groupby
from xml.etree import ElementTree as ET

from service.cli.answers.cases import Case, Standing, cases_of
from service.cli.answers.marks import xml_text
from service.cli.answers.words import Language, say
from service.formats.gate_answers import GateAnswer, GateCell

ELEMENT = {Standing.FAILS: "failure", Standing.ERRS: "error", Standing.LEFT_OUT: "skipped"}
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_COUNTED = {Standing.FAILS: "failures", Standing.ERRS: "errors", Standing.LEFT_OUT: "skipped"}


def junit(answer: GateAnswer, language: Language) -> str:
    """Return an answer as a JUnit XML document."""
    cases = cases_of(answer, language)
    finished = answer.finished_at or answer.asked_at
    took_s = (finished - answer.asked_at).total_seconds()
    root = ET.Element("testsuites", name=f"kunline gate {xml_text(answer.plan)}")
    _count(root, cases)
    root.set("time", f"{took_s:.3f}")
    for _, group in groupby(cases, key=lambda case: id(case.cell)):
        of_cell = tuple(group)
        _suite(root, answer, of_cell, language)
    ET.indent(root)
    return f"{_HEAD}{ET.tostring(root, encoding='unicode')}\n"


def _suite(
    root: ET.Element, answer: GateAnswer, cases: tuple[Case, ...], language: Language
) -> None:
    cell = cases[0].cell
    name = say(language, "gate") if cell is None else cell.title
    suite = ET.SubElement(root, "testsuite", name=xml_text(name))
    _count(suite, cases)
    suite.set("time", "0")
    suite.set("timestamp", f"{answer.asked_at:%Y-%m-%dT%H:%M:%S}")
    suite.set("hostname", xml_text(answer.host or ""))
    properties = ET.SubElement(suite, "properties")
    for key, value in _properties(answer, cell).items():
        ET.SubElement(properties, "property", name=key, value=xml_text(value))
    for case in cases:
        _case(suite, answer, case)


def _properties(answer: GateAnswer, cell: GateCell | None) -> dict[str, str]:
    whole = {
        "baseline": answer.base.stack_name,
        "baseline_stack_key": answer.base.stack_key,
        "candidate": answer.candidate.stack_name,
        "candidate_stack_key": answer.candidate.stack_key,
        "gate": str(answer.id),
    }
    return whole if cell is None else {**whole, "condition_key": cell.condition_key}


def _case(suite: ET.Element, answer: GateAnswer, case: Case) -> None:
    workload = "gate" if case.cell is None else case.cell.workload
    names = [xml_text(part).replace(".", "_") for part in ("kunline", answer.plan, workload)]
    element = ET.SubElement(
        suite, "testcase", classname=".".join(names), name=xml_text(case.name), time="0"
    )
    sentence = xml_text(case.sentence)
    if case.standing is Standing.WELL:
        ET.SubElement(element, "system-out").text = sentence
        return
    found = ET.SubElement(element, ELEMENT[case.standing], message=sentence)
    if case.standing is not Standing.LEFT_OUT:
        found.set("type", str(case.outcome))


def _count(element: ET.Element, cases: tuple[Case, ...]) -> None:
    element.set("tests", str(len(cases)))
    for standing, name in _COUNTED.items():
        element.set(name, str(sum(case.standing is standing for case in cases)))
