"""The document that the program writes, read as anybody could read it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.faults.history import Run


@dataclass(frozen=True, slots=True)
class Result:
    """What the report says of one planned eviction."""

    uid: str
    pod: str
    result: str
    code: str


@dataclass(frozen=True, slots=True)
class Report:
    """An Outcome document. `planned` are the uids of its plan's moves."""

    results: tuple[Result, ...]
    planned: frozenset[str]
    counts: dict[str, int]
    unconfirmed: int | None

    def result_of(self, uid: str) -> Result | None:
        """What it says of a pod."""
        for result in self.results:
            if result.uid == uid:
                return result
        return None


def report_of(run: Run) -> Report | None:
    """The report on standard output; None where there is none in JSON, or half of one."""
    try:
        document: dict[str, Any] = json.loads(run.stdout)
    except ValueError:
        return None
    if document.get("kind") != "Outcome":
        return None
    results = tuple(
        Result(item["pod"]["uid"], item["pod"]["name"], item["result"], item["code"]) for item in document["results"]
    )
    planned = frozenset(move["pod"]["uid"] for move in document["plan"]["moves"])
    return Report(results, planned, document["counts"], document.get("unconfirmed"))
