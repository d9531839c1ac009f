"""What `validate` finds, as other programs read it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from descheduler.documents.problems import DocumentProblem
from descheduler.report.formats.findings import FileFindings, findings_text

PLACED = DocumentProblem("policy.yaml", 3, 7, "profiles[0]", "is empty")
UNPLACED = DocumentProblem("policy.yaml", None, None, "", "cannot be read")


def found(*problems: DocumentProblem, warnings: tuple[DocumentProblem, ...] = (), **facts: Any) -> FileFindings:
    given: dict[str, Any] = {
        "file": "policy.yaml",
        "is_valid": not problems,
        "kind": None if problems else "DeschedulerPolicy",
    }
    return FileFindings(problems=problems, warnings=warnings, **given | facts)


def test_json_has_all_findings_of_each_file() -> None:
    text = findings_text([found(PLACED), found(warnings=(UNPLACED,))], "json")

    bad, good = json.loads(text)
    assert (bad["valid"], bad["kind"], bad["warnings"]) == (False, None, [])
    assert [(each["line"], each["column"], each["message"]) for each in bad["problems"]] == [(3, 7, "is empty")]
    assert (good["valid"], good["kind"], len(good["warnings"])) == (True, "DeschedulerPolicy", 1)
    assert text.endswith("]\n")


def test_sarif_has_a_result_for_each_finding_and_its_place() -> None:
    text = findings_text([found(PLACED, warnings=(UNPLACED,), file="my policy.yaml")], "sarif")

    (run,) = json.loads(text)["runs"]
    problem, warning = run["results"]
    place = problem["locations"][0]["physicalLocation"]
    assert (problem["ruleId"], problem["level"], problem["message"]["text"]) == (
        "problem",
        "error",
        "profiles[0]: is empty",
    )
    assert place["artifactLocation"]["uri"] == "my%20policy.yaml"
    assert place["region"] == {"startLine": 3, "startColumn": 7}
    assert (warning["level"], warning["message"]["text"]) == ("warning", "cannot be read")
    assert warning["locations"][0]["physicalLocation"]["region"] == {"startLine": 1, "startColumn": 1}
    assert text.endswith("}\n")


@pytest.mark.parametrize(
    ("findings", "failures", "element", "text"),
    [
        pytest.param(found(PLACED, UNPLACED), "1", "failure", f"{PLACED}\n{UNPLACED}", id="invalid"),
        pytest.param(
            found(PLACED, warnings=(UNPLACED,)), "1", "failure", f"{PLACED}\nwarning: {UNPLACED}", id="both"
        ),
        pytest.param(found(warnings=(UNPLACED,)), "0", "system-out", f"warning: {UNPLACED}", id="valid with a warning"),
        pytest.param(
            found(warnings=(UNPLACED,), is_valid=False), "1", "failure", f"warning: {UNPLACED}", id="strict"
        ),
        pytest.param(found(), "0", None, None, id="valid"),
    ],
)  # fmt: skip
def test_junit_has_a_case_for_each_file(
    findings: FileFindings, failures: str, element: str | None, text: str | None
) -> None:
    suites = ET.fromstring(findings_text([findings], "junit"))  # noqa: S314 - it was just written

    (suite,) = suites
    (case,) = suite
    assert (suite.get("tests"), suite.get("failures")) == ("1", failures)
    assert [(each.tag, each.text) for each in case] == ([] if element is None else [(element, text)])


def test_names_of_files_break_no_document() -> None:
    text = findings_text([found(PLACED, file='a"<b>&\x1b')], "junit")

    (suite,) = ET.fromstring(text)  # noqa: S314 - it was just written
    assert suite[0].get("name") == 'a"<b>&\\x1b'
