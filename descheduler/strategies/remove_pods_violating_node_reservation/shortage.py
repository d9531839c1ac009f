"""How far the requests of a node's pods go beyond what its reservation leaves them, and which pods end that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

from descheduler.model.node import BATCH_RESOURCES, Node
from descheduler.model.pod import Pod
from descheduler.model.quantity import NANO
from descheduler.model.requests import PODS, ResourceList, ceil_amount
from descheduler.model.text.amounts import amounts_text

__all__ = ["ReservedShortage", "enough_of", "held_by"]


def held_by(pod: Pod) -> ResourceList:
    """What the scheduler counts for `pod` on its node, in nano units; one of `pods`."""
    requests = pod.spec.requests if pod.resized is None else pod.resized.requests
    return {**requests, PODS: NANO}


class ReservedShortage:
    """What `pods` of `node` request above what is left for them, of each reserved resource.

    `amounts` are in nano units and positive. Batch resources are left out: koord-manager takes the reservation out of
    them itself. `resources` keeps to some; all of the reservation count where there are none. `others` is what is held
    beside the pods, which no eviction frees.
    """

    def __init__(
        self, node: Node, pods: Sequence[Pod], resources: Iterable[str] = (), others: ResourceList | None = None
    ) -> None:
        self._others = others or {}
        held = [self._others, *(held_by(pod) for pod in pods)]
        self._limits = {name: node.for_pods.get(name, 0) for name in _withheld(node, frozenset(resources))}
        self._occupied = {name: sum(each.get(name, 0) for each in held) for name in self._limits}
        self.amounts = {
            name: self._occupied[name] - limit for name, limit in self._limits.items() if self._occupied[name] > limit
        }

    @property
    def text(self) -> str:
        """The amounts for people."""
        return amounts_text((name, ceil_amount(name, nano)) for name, nano in self.amounts.items())

    def reducible(self, stuck: Iterable[Pod]) -> dict[str, int]:
        """Its amounts, without the resources of which the pods that cannot leave alone request more than there is."""
        held = [self._others, *(held_by(pod) for pod in stuck)]
        return {
            name: nano
            for name, nano in self.amounts.items()
            if sum(each.get(name, 0) for each in held) <= self._limits[name]
        }

    def cover(self, amounts: Mapping[str, int]) -> Callable[[Pod], int]:
        """How much a pod covers of the dominant one of `amounts`: the largest beside what is requested of it."""
        dominant = max(amounts, key=lambda name: Fraction(amounts[name], self._occupied[name]))
        return lambda pod: min(amounts[dominant], held_by(pod).get(dominant, 0))


def enough_of(pods: Sequence[Pod], amounts: Mapping[str, int]) -> list[Pod]:
    """The `pods`, in order of leaving, that free `amounts` (in nano units), or as much of them as can be freed.

    Pods are taken until that is reached; then those that turn out not to be needed are spared, the last of them first.
    None of them is without a request of what is still short when its turn comes.
    """
    left = dict(amounts)
    chosen: list[Pod] = []
    for pod in pods:
        if any(nano > 0 and held_by(pod).get(name, 0) for name, nano in left.items()):
            chosen.append(pod)
            _add(left, pod, -1)
    for pod in chosen[::-1]:
        _add(left, pod, 1)
        if all(nano <= 0 for nano in left.values()):
            chosen.remove(pod)
        else:
            _add(left, pod, -1)
    return chosen


def _add(amounts: dict[str, int], pod: Pod, sign: int) -> None:
    held = held_by(pod)
    for name in amounts:
        amounts[name] += sign * held.get(name, 0)


def _withheld(node: Node, resources: frozenset[str]) -> list[str]:
    """The resources of which an amount is reserved."""
    reservation = node.reservation
    if reservation is None or not reservation.withholds_amounts:
        return []
    names = sorted(name for name, nano in reservation.amounts.items() if nano > 0 and name not in BATCH_RESOURCES)
    return [name for name in names if not resources or name in resources]
