"""What the target nodes of a phase can still take: all together, and each for the pods that are fitted onto it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from descheduler.model.pod import Pod
from descheduler.model.quantity import NANO
from descheduler.model.requests import PODS, ResourceList
from descheduler.strategies.low_node_load.node_load import Load, MeasuredNode

if TYPE_CHECKING:  # numpy takes longer to import than validating a policy may
    import numpy as np
    from numpy.typing import NDArray

    from descheduler.eviction.node_fit import NodeFit

_SLACK = 1e-9
"""Of a threshold: far above what rounding takes from it, far below what a pod uses."""

Aspect: TypeAlias = Callable[[MeasuredNode], Load]
"""Which load of a node a phase is about."""


def whole_load(load: MeasuredNode) -> Load:
    """The load of all pods."""
    return load.whole


def prod_load(load: MeasuredNode) -> Load:
    """The load of the prod pods."""
    return load.prod


class Headroom:
    """How much of each resource the targets of a phase have left below their high thresholds, in nano units."""

    def __init__(self, left: Mapping[str, int]) -> None:
        self.left = dict(left)

    @classmethod
    def of(cls, loads: Iterable[MeasuredNode], aspect: Aspect, resources: Iterable[str]) -> Headroom:
        """The headroom of `loads` as they are now."""
        sides = [aspect(load) for load in loads]
        return cls({name: sum(side.high[name] - side.usage[name] for side in sides) for name in resources})

    def __add__(self, other: Headroom) -> Headroom:
        return Headroom({name: nano + other.left[name] for name, nano in self.left.items()})

    def at_most(self, other: Headroom) -> Headroom:
        """The lesser of the two, resource by resource."""
        return Headroom({name: min(nano, other.left[name]) for name, nano in self.left.items()})

    @property
    def short_of(self) -> list[str]:
        """The resources of which nothing is left."""
        return [name for name, nano in self.left.items() if nano <= 0]

    def take(self, usage: ResourceList) -> None:
        """Books a pod that uses this; it counts as one pod."""
        for name in self.left:
            self.left[name] -= NANO if name == PODS else usage.get(name, 0)


class _RoundedRoom:
    """What nodes have left below their high thresholds, in rounded numbers: it rules out the many that are full.

    What it lets pass has to be looked at in whole numbers, which do not fit into 64 bits.
    """

    def __init__(self, sides: Sequence[Load]) -> None:
        import numpy as np

        self._names = tuple(sides[0].high) if sides else ()
        high = np.array([[float(side.high[name]) for side in sides] for name in self._names])
        used = np.array([[float(side.usage[name]) for side in sides] for name in self._names])
        self._left = high - used + _SLACK * np.maximum(high, 1.0)

    def may_take(self, usage: ResourceList, among: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The nodes of `among` that can take a pod that uses this, by index, and a few that hardly cannot."""
        mask = among.copy()
        for name, left in zip(self._names, self._left, strict=True):
            mask &= left >= float(usage.get(name, 0))
        return mask.nonzero()[0]

    def take(self, index: np.intp, usage: ResourceList) -> None:
        """Books a pod that uses this on a node."""
        for name, left in zip(self._names, self._left, strict=True):
            left[index] -= float(usage.get(name, 0))


class Targets:
    """The nodes that can take the pods of a phase, and which of them fits a pod.

    Koordinator books the usage of a pod on the first node that fits, for the rest of the run, also when the pod is not
    evicted in the end: the targets are so never overrun. They are tried in name order here; the original has none.
    """

    def __init__(self, loads: Sequence[MeasuredNode], aspect: Aspect, node_fit: NodeFit) -> None:
        self._loads = sorted(loads, key=lambda load: load.node.name)
        self._sides = [aspect(load) for load in self._loads]
        self._node_fit = node_fit
        self._nodes = node_fit.node_set([load.node for load in self._loads])
        self._left = _RoundedRoom(self._sides)

    def __len__(self) -> int:
        return len(self._loads)

    def fit(self, pod: Pod, usage: ResourceList) -> bool:
        """Whether some target passes node fit and stays below its high thresholds with `pod`; books it there if so."""
        for index in self._left.may_take(usage, self._node_fit.has_room(pod, self._nodes)):
            side = self._sides[index]
            if all(side.usage[name] + usage.get(name, 0) <= limit for name, limit in side.high.items()):
                for name in side.high:
                    side.usage[name] += usage.get(name, 0)
                self._left.take(index, usage)
                return True
        return False
