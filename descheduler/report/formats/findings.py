"""What is wrong with files, as other programs read it: JSON, SARIF for code scanning, JUnit for pipelines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

import msgspec

from descheduler.documents.problems import DocumentProblem
from descheduler.model.text.printable import printable
from descheduler.version import VERSION

FindingsFormat = Literal["json", "sarif", "junit"]
"""The forms besides lines of text."""

_RULES = {"problem": "error", "warning": "warning"}
"""Rule → its level in SARIF."""
_ABOUT = {
    "problem": "The policy cannot be used.",
    "warning": "The policy can be used, but not all of it has an effect.",
}


class FileFindings(msgspec.Struct, frozen=True):
    """What was found in one file, and whether it can be used; `kind` is None for a file that is invalid."""

    file: str
    is_valid: bool
    kind: str | None
    problems: Sequence[DocumentProblem]
    warnings: Sequence[DocumentProblem]


def findings_text(found: Sequence[FileFindings], form: FindingsFormat) -> str:
    """The findings on all files in one document, with a newline at its end."""
    match form:
        case "json":
            return json.dumps([_plain(each) for each in found], indent=2) + "\n"
        case "sarif":
            return json.dumps(_sarif(found), indent=2) + "\n"
        case "junit":
            return "".join(f"{line}\n" for line in _junit(found))


def _plain(found: FileFindings) -> Mapping[str, object]:
    return {
        "file": found.file,
        "valid": found.is_valid,
        "kind": found.kind,
        "problems": [msgspec.structs.asdict(problem) for problem in found.problems],
        "warnings": [msgspec.structs.asdict(warning) for warning in found.warnings],
    }


def _sarif(found: Sequence[FileFindings]) -> Mapping[str, object]:
    """A log of SARIF 2.1.0 with one run; findings that have no place stand in the first line of their file."""
    rules = [{"id": rule, "shortDescription": {"text": _ABOUT[rule]}} for rule in _RULES]
    driver = {"name": "descheduler", "version": VERSION, "rules": rules}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": list(_results(found))}],
    }


def _results(found: Sequence[FileFindings]) -> Iterator[Mapping[str, object]]:
    for each in found:
        for rule, findings in (("problem", each.problems), ("warning", each.warnings)):
            for finding in findings:
                yield {
                    "ruleId": rule,
                    "level": _RULES[rule],
                    "message": {"text": f"{finding.field}: {finding.message}" if finding.field else finding.message},
                    "locations": [{"physicalLocation": _location(each.file, finding)}],
                }


def _location(file: str, finding: DocumentProblem) -> Mapping[str, object]:
    return {
        "artifactLocation": {"uri": quote(file)},
        "region": {"startLine": finding.line or 1, "startColumn": finding.column or 1},
    }


def _junit(found: Sequence[FileFindings]) -> Iterator[str]:
    """A test case for each file; what makes it fail is its failure."""
    failed = sum(not each.is_valid for each in found)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites><testsuite name="descheduler validate" tests="{len(found)}" failures="{failed}" errors="0">'
    for each in found:
        yield f'<testcase classname="descheduler.validate" name={quoteattr(printable(each.file))}>'
        warnings = [f"warning: {warning}" for warning in each.warnings]
        lines = [*map(str, each.problems), *([] if each.is_valid else warnings)]
        if not each.is_valid:
            yield f"<failure message={quoteattr(lines[0])}>{escape(chr(10).join(lines))}</failure>"
        elif warnings:
            yield f"<system-out>{escape(chr(10).join(warnings))}</system-out>"
        yield "</testcase>"
    yield "</testsuite></testsuites>"
