"""Which disruption budgets cover a pod, without asking every budget of its namespace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from descheduler.model.objects import DisruptionBudget
from descheduler.model.selection.labels import LabelSelector

__all__ = ["BudgetIndex"]


class BudgetIndex:
    """Well-formed budgets of one namespace, each kept under one label that its selector asks for.

    Of several such labels the rarest among the selectors is chosen, so that one which they all name does not collect
    them all. Selectors that ask for no value are compared with every pod.
    """

    def __init__(self, budgets: Sequence[DisruptionBudget]) -> None:
        self._by_label: dict[tuple[str, str], list[tuple[int, DisruptionBudget]]] = {}
        self._others: list[tuple[int, DisruptionBudget]] = []
        asked = Counter(label for budget in budgets for choice in _choices(budget.selector) for label in choice)
        for place, budget in enumerate(budgets):
            choices = list(_choices(budget.selector))
            if not choices:
                self._others.append((place, budget))
                continue
            for label in min(choices, key=lambda choice: sum(asked[label] for label in choice)):
                self._by_label.setdefault(label, []).append((place, budget))

    def covering(self, labels: Mapping[str, str]) -> tuple[DisruptionBudget, ...]:
        """The budgets whose selector matches `labels`, in the order given."""
        likely = list(self._others)
        for label in labels.items():
            likely += self._by_label.get(label, ())
        found = [(place, budget) for place, budget in likely if budget.selector.matches(labels)]
        return tuple(budget for _, budget in sorted(found, key=lambda entry: entry[0]))


def _choices(selector: LabelSelector) -> Iterator[list[tuple[str, str]]]:
    """For each requirement that names values, the labels that meet it."""
    for requirement in selector.requirements:
        if requirement.operator == "In":
            yield [(requirement.key, value) for value in sorted(requirement.values)]
