"""A subject that the package does not have, as somebody would add it: one module, which a row names."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.documents.fields import Fields
from descheduler.explanation.asked import Answer, Explained, Inquiry
from descheduler.explanation.finding import find_key
from descheduler.report.tables.table_style import TableStyle


class PriorityExplanation(Fields, frozen=True):
    """A PriorityClass, and how many pods have its priority."""

    name: str
    value: int
    num_pods: int


def _answer(asked: Inquiry) -> Answer[PriorityExplanation]:
    known = asked.snapshot.priority_classes
    found = known[find_key("PriorityClass", asked.snapshot, asked.name, known)]
    num_pods = sum(pod.priority == found.value for pod in asked.snapshot.pods)
    return Answer(PriorityExplanation(name=found.name, value=found.value, num_pods=num_pods), ("ages are not shown",))


def _table(explanation: PriorityExplanation, style: TableStyle) -> Iterator[str]:
    row = [explanation.name, str(explanation.value), str(explanation.num_pods)]
    yield from style.table(["PRIORITY CLASS", "VALUE", "PODS"], [row])


SUBJECT = Explained(PriorityExplanation, _answer, _table, lambda: ["high"])
