"""How full nodes may be, as percent of what they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from descheduler.model.text.amounts import rounded_percent
from descheduler.optimizer.arrays import Ints
from descheduler.planner.utilization.node_utilization import NodeUtilization
from descheduler.strategies.node_utilization.thresholds import average_percent, shifted_percent
from descheduler.strategies.node_utilization.usage import noun_of

NO_CEILING = 2**60
"""The ceiling of a resource without a target."""


class UsageTargets:
    """Percent of allocatable by resource that may be taken of a node at most.

    With an `average`, percent by resource too, `percent` are `stated` above it.
    """

    def __init__(
        self,
        percent: Mapping[str, float],
        *,
        stated: Mapping[str, float] | None = None,
        average: Mapping[str, float] | None = None,
    ) -> None:
        self.percent = dict(sorted(percent.items()))
        self.stated = percent if stated is None else stated
        self._average = average

    @classmethod
    def above_average(cls, stated: Mapping[str, float], usages: Sequence[NodeUtilization]) -> UsageTargets:
        """Targets so far above the mean of nodes; a resource that none of them has has no target.

        As LowNodeUtilization has it with `useDeviationThresholds`: each node counts the same, and nothing above 100.
        """
        average = average_percent([_percentages(usage) for usage in usages], stated)
        return cls(shifted_percent(average, stated, sign=1), stated=stated, average=average)

    @property
    def text(self) -> str:
        """Such as `cpu 70%, memory 80%`, or `cpu 57.3%, 10 above the average of 47.3%`."""
        return self.text_of(list(self.percent))

    @property
    def resolved(self) -> str:
        """The text where it says more than the policy; else empty."""
        return "" if self._average is None else self.text

    def ceilings(self, resources: Sequence[str], allocatable: Ints) -> Ints:
        """int64[..., R]: the most that may be taken of nodes with that much `allocatable`, of the same shape."""
        found = np.full_like(allocatable, NO_CEILING)
        for column, resource in enumerate(resources):
            if resource in self.percent:
                # Divided last: 100 cores at 57 % are 57 cores, and a little less the other way round.
                found[..., column] = np.floor(allocatable[..., column] * self.percent[resource] / 100)
        return found

    def resources_over(self, usage: NodeUtilization, need: Ints | None = None) -> tuple[str, ...]:
        """The resources of which a node is over its target; with `need` (int64[R]) on top, those that this takes."""
        has_target = np.isin(usage.resources, list(self.percent))
        over = has_target & (usage.taken > self.ceilings(usage.resources, usage.allocatable))
        if need is not None:
            need = need[: len(usage.taken)]  # what has no row there was not known before, and has no target
            over = has_target & (usage.taken + need > self.ceilings(usage.resources, usage.allocatable)) & (need > 0)
        return tuple(usage.resources[column] for column in np.flatnonzero(over).tolist())

    def text_of(self, resources: Sequence[str]) -> str:
        """The targets of `resources`."""
        return ", ".join(map(self._text_of_one, resources))

    def text_over(self, usage: NodeUtilization, what: str) -> str:
        """Such as `CPU requests at 93% of allocatable (targetThresholds.cpu: 70)`; empty where nothing is over.

        `what` is `requests` or `usage`.
        """
        return ", ".join(
            f"{noun_of(resource, what)} at {_percent(usage, resource, self.percent[resource])} of allocatable"
            f" (targetThresholds.{resource}: {self.stated[resource]:g}{self._above(resource)})"
            for resource in self.resources_over(usage)
        )

    def _text_of_one(self, resource: str) -> str:
        text = f"{resource} {self._written(self.percent[resource])}"
        above = self._above(resource)
        return f"{text}, {self.stated[resource]:g}{above}" if above else text

    def _above(self, resource: str) -> str:
        """Such as ` above the average of 47.3%`; empty where targets are stated as they are."""
        return "" if self._average is None else f" above the average of {rounded_percent(self._average[resource])}"

    def _written(self, percent: float) -> str:
        """As the policy has it, unless an average is part of it."""
        return f"{percent:g}%" if self._average is None else rounded_percent(percent)


def _percentages(usage: NodeUtilization) -> dict[str, float]:
    """Of the resources that the node has."""
    return {
        resource: 100.0 * taken / allocatable
        for resource, taken, allocatable in zip(
            usage.resources, usage.taken.tolist(), usage.allocatable.tolist(), strict=True
        )
        if allocatable
    }


def _percent(usage: NodeUtilization, resource: str, limit: float) -> str:
    column = usage.resources.index(resource)
    return rounded_percent(100 * int(usage.taken[column]) / max(int(usage.allocatable[column]), 1), limit)
