"""Thresholds as the policy states them, and the words for a node's level beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from descheduler.model.text.amounts import rounded_percent
from descheduler.plan.facts import NearestValue
from descheduler.strategies.node_utilization.classify import NodeLoad
from descheduler.strategies.node_utilization.thresholds import average_percent, shifted_percent


class Thresholds(msgspec.Struct, frozen=True):
    """One threshold map of the policy. `percent` are those in effect, `stated` what the policy says.

    With an `average` the stated ones are distances from it. `key` is the name of the map in the policy.
    """

    key: str
    percent: Mapping[str, float]
    stated: Mapping[str, float]
    average: Mapping[str, float] | None = None

    @classmethod
    def fixed(cls, key: str, stated: Mapping[str, float]) -> Thresholds:
        """Thresholds that hold as they are stated."""
        return cls(key, stated, stated)

    @classmethod
    def around_average(cls, key: str, stated: Mapping[str, float], loads: list[NodeLoad], *, sign: int) -> Thresholds:
        """Thresholds so far above (`sign` 1) or below (-1) the average of `loads`."""
        average = average_percent([load.percent for load in loads], stated)
        return cls(key, shifted_percent(average, stated, sign=sign), stated, average)

    def key_of(self, resource: str) -> str:
        """Where the policy states the threshold of `resource`."""
        return f"{self.key}.{resource}"

    def words(self, resource: str) -> str:
        """Such as `thresholds.cpu: 20`, or `thresholds.cpu: 10 from the average of 40%`."""
        stated = f"{self.key_of(resource)}: {self.stated[resource]:g}"
        if self.average is None:
            return stated
        return f"{stated} from the average of {rounded_percent(self.average[resource])}"

    def levels(self, load: NodeLoad) -> Iterator[UsageLevel]:
        """The levels of a node beside each threshold, in resource order."""
        for resource, limit in sorted(self.percent.items()):
            yield UsageLevel(load, resource, load.percent.get(resource, 0.0), limit, self)

    def excess(self, load: NodeLoad) -> float:
        """How far a node is above these thresholds, by the resource that is furthest; negative below all of them."""
        percent = load.percent
        return max((percent.get(resource, 0.0) - limit for resource, limit in self.percent.items()), default=0.0)

    def nearest(self, loads: Sequence[NodeLoad]) -> Iterator[NearestValue]:
        """For each threshold the node that is nearest to it, on whichever side."""
        for resource, limit in sorted(self.percent.items()) if loads else ():
            values = ((load.percent.get(resource, 0.0), load.node.name) for load in loads)
            percent, name = min(values, key=lambda each: abs(each[0] - limit))
            yield NearestValue(self.key_of(resource), limit, percent, "percent", name)

    def highest(self, load: NodeLoad) -> UsageLevel | None:
        """The level of that resource; None without thresholds."""
        return max(self.levels(load), key=lambda level: level.excess, default=None)


class UsageLevel(msgspec.Struct, frozen=True):
    """Percent of allocatable that a node has in use of one resource, beside a threshold."""

    load: NodeLoad
    resource: str
    percent: float
    limit: float
    thresholds: Thresholds

    @property
    def excess(self) -> float:
        """How far it is above the threshold; negative below."""
        return self.percent - self.limit

    def words(self, noun: str) -> str:
        """Such as `CPU requests at 64% (thresholds.cpu: 20)`; `noun` says what is counted of the resource."""
        return f"{noun} at {self._percent} ({self.thresholds.words(self.resource)})"

    def sentence(self, noun: str) -> str:
        """Such as `CPU requests are at 98.6% of allocatable (targetThresholds.cpu: 70)`."""
        verb = "are" if noun.endswith("requests") else "is"
        return f"{noun} {verb} at {self._percent} of allocatable ({self.thresholds.words(self.resource)})"

    @property
    def _percent(self) -> str:
        return rounded_percent(self.percent, self.limit)
