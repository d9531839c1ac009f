"""What the topology spread plugin saw: the constraints of each namespace, and how far they are from their limit."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.plan.facts import NearestValue, PluginFacts
from descheduler.strategies.remove_pods_violating_topology_spread_constraint.constraints import PodConstraint

_STATED, _FILTER, _MAX_SKEW = "spec.topologySpreadConstraints", "filter", "maxSkew"


class _Skew(msgspec.Struct, frozen=True):
    """How far a constraint is from its limit, or beyond it."""

    excess: int
    constraint: PodConstraint
    namespace: str

    @property
    def num_pods(self) -> int:
        """How many pods the fullest domain holds more than the emptiest."""
        return self.excess + self.constraint.max_skew

    @property
    def words(self) -> str:
        """Such as `the largest skew in namespace shop is 1 pod over zone (maxSkew: 1)`."""
        pods, key, limit = counted(self.num_pods, "pod"), self.constraint.topology_key, self.constraint.max_skew
        return f"the largest skew is {pods} over {key} in namespace {self.namespace} (maxSkew: {limit})"

    @property
    def nearest(self) -> NearestValue:
        """The skew beside its limit."""
        subject = f"{self.constraint.topology_key} in namespace {self.namespace}"
        return NearestValue(_MAX_SKEW, self.constraint.max_skew, self.num_pods, "pods", subject)


class SpreadTally:
    """Counts for one run; `wanted` says which constraints count, as the end of a sentence."""

    def __init__(self, wanted: str) -> None:
        self._wanted = wanted
        self._by_namespace: dict[str, list[_Skew]] = {}
        self._num_unconstrained = 0
        self._num_filtered = 0
        self._num_selected = 0
        self._without_room: dict[str, Pod] = {}

    def note_without_room(self, pod: Pod) -> None:
        """Takes note of a pod that is to leave and that fits on no node in a less full domain."""
        self._without_room.setdefault(pod.namespace, pod)

    def leave_out(self, num_pods: int) -> None:
        """Counts pods of namespaces where no pod states a constraint."""
        self._num_unconstrained += num_pods

    def note_namespace(self, num_pods: int, num_counted: int, num_selected: int) -> None:
        """Counts the pods of a namespace, those that the filters let pass, and those that a constraint selects."""
        self._num_filtered += num_pods - num_counted
        self._num_selected += num_selected

    def note_skew(self, constraint: PodConstraint, skew: int, namespace: str) -> None:
        """Takes note of a constraint."""
        noted = _Skew(skew - constraint.max_skew, constraint, namespace)
        self._by_namespace.setdefault(namespace, []).append(noted)

    def facts(self, looked_at: PluginFacts) -> PluginFacts:
        """What was seen in all, after the filters of the plugin's arguments had let through what `looked_at` says."""
        skews = [skew for of_namespace in self._by_namespace.values() for skew in of_namespace]
        largest = _largest(skews)
        num_even = looked_at.pods_selected - self._num_unconstrained - self._num_filtered - self._num_selected
        left_out = {_STATED: self._num_unconstrained, _FILTER: self._num_filtered, _MAX_SKEW: num_even}
        return PluginFacts(
            why_nothing="" if self._num_selected else looked_at.why_nothing or self._why_even(largest),
            pods_examined=looked_at.pods_examined,
            pods_selected=self._num_selected,
            left_out={**looked_at.left_out, **{key: number for key, number in left_out.items() if number}},
            nearest=() if largest is None else (largest.nearest,),
            counts={"constraints": len(skews)},
        )

    def why_not(self, pod: Pod) -> str:
        """Why `pod`, which is looked at, is not selected: no constraint counts it, or what those come to that do."""
        skews = self._by_namespace.get(pod.namespace)
        if not skews:
            return f"no evictable pod in namespace {pod.namespace} has a topology spread constraint {self._wanted}"
        largest = _largest([skew for skew in skews if skew.constraint.selector.matches(pod.labels)])
        if largest is None:
            return f"no topology spread constraint in namespace {pod.namespace} selects the pod {self._wanted}"
        return largest.words if largest.excess <= 0 else f"other pods are selected{self._kept(pod)}: {largest.words}"

    def _kept(self, pod: Pod) -> str:
        kept = self._without_room.get(pod.namespace)
        if kept is None:
            return ""
        return f", such as {kept.key}, which fits on no node in a less full domain (topologyBalanceNodeFit: true)"

    def _why_even(self, largest: _Skew | None) -> str:
        if largest is None:
            return f"no evictable pod has a topology spread constraint {self._wanted}"
        if largest.excess > 0:
            return f"no eviction would spread the pods more evenly: {largest.words}"
        if largest.constraint.selector.nothing:
            return (
                f"no topology spread constraint counts a pod: that over {largest.constraint.topology_key} in namespace"
                f" {largest.namespace} has no labelSelector, which selects none"
            )
        return f"no topology spread constraint is violated: {largest.words}"


def _largest(skews: Sequence[_Skew]) -> _Skew | None:
    """The one that is furthest beyond its limit, or nearest to it; the first of equals."""
    return max(skews, key=lambda skew: skew.excess, default=None)
