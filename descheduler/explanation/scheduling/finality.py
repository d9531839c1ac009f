"""How final a rejection is, in the words of the document."""

from __future__ import annotations

from descheduler.placement.framework.obstacle import Code
from descheduler.report.explanation.placement import Finality

__all__ = ["finality"]

_FINALITY: dict[Code, Finality] = {
    Code.UNSCHEDULABLE: "unschedulable",
    Code.UNRESOLVABLE: "unresolvable",
    Code.UNDECIDED: "unknown",
}


def finality(code: Code) -> Finality:
    """The word for `code`."""
    return _FINALITY[code]
