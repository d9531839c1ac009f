"""ReduceFragmentation over a cluster: free devices in pieces that pods of the cluster's own sizes can use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.optimizer.arrays import Floats
from descheduler.optimizer.objective import Value
from descheduler.optimizer.objectives.reduce_fragmentation import ReduceFragmentation, stranded_for
from descheduler.placement.landings.openings import Openings
from descheduler.planner.objective_args import ReduceFragmentationArgs
from descheduler.planner.objectives.fragmentation import Fragmentation
from descheduler.planner.problem.cluster_problem import ClusterProblem
from descheduler.planner.problem.pod_sizes import sizes_of


class ReduceFragmentationObjective(Fragmentation):
    """What is free of a resource on `nodes` and that pods cannot use."""

    proves_rounded = False

    def __init__(self, args: ReduceFragmentationArgs, handle: StrategyHandle, nodes: Sequence[Node]) -> None:
        self._resource = args.resource
        self.state = f"of free {args.resource}"
        self._evictor = handle.evictor
        self.hint = self.packing_hint(handle.evictor.prover().preference())
        self.larger = f"larger slots of {args.resource}"
        self.node_names = [node.name for node in nodes]
        self._sizes = sizes_of(_requesting(handle), args.resource, self._openings)
        self.scale = 1 if self._sizes is None else int(self._sizes.weights.sum())

    def nothing_to_do(self) -> str:
        """That no pod requests the resource, or that all of it that is free can be used."""
        if self._sizes is None:
            return f"no pod requests {self._resource}"
        if self.figure():
            return ""
        return f"pods that request {self._sizes.text} can use all free {self._resource}"

    def figure(self) -> int:
        """Units stranded, summed over the sizes."""
        return self._weighted(self._free(self.node_names))

    def stated_over(self, cluster: ClusterProblem) -> ReduceFragmentation:
        """The sizes as classes."""
        if self._sizes is None:
            raise AssertionError(f"no pod requests {self._resource}")
        self.stated_of = cluster
        classes = cluster.units.needs(self._sizes.padded(len(cluster.resources)))
        return ReduceFragmentation(self._sizes.resource, classes, self._sizes.weights)

    def shown(self, value: Value) -> tuple[int, int]:
        """In units of the resource, of which the problem may count several as one."""
        stranded, cost = value
        size = 1 if self._sizes is None else int(self.stated_of.units.sizes[self._sizes.resource])
        return stranded * size, cost

    def reason(self, pod: Pod) -> str:
        """Which sizes cannot use what is free of its node."""
        free, missing = self._free([pod.node_name]), self._stranding(pod.node_name)
        if self._sizes is None or not missing:
            return f"leaves a larger slot of {self._resource} free on node {pod.node_name}"
        amount = int(free[self._sizes.resource][0])
        return (
            f"node {pod.node_name} has {amount} free {self._resource}, of which pods that request"
            f" {self._sizes.text_of(missing)} cannot use all"
        )

    @property
    def _openings(self) -> Openings:
        return self._evictor.prover().openings()

    def _free(self, nodes: Sequence[str]) -> list[Floats]:
        """float64[n] a resource: what is free of nodes."""
        openings = self._openings
        columns = [openings.place_of(node) for node in nodes]
        free = openings.capacity[:, columns] - openings.taken[:, columns]
        return [np.maximum(row, 0).astype(np.float64) for row in free]

    def _stranded(self, free: Sequence[Floats]) -> Floats:
        """float64[M, n]: by size and node, each size once."""
        sizes = self._sizes
        if sizes is None:
            return np.zeros((0, len(free[0])))
        return np.array([stranded_for(need, sizes.resource, free) for need in sizes.padded(len(free))])

    def _weighted(self, free: Sequence[Floats]) -> int:
        return 0 if self._sizes is None else int((self._stranded(free).sum(axis=1) * self._sizes.weights).sum())

    def _stranding(self, node: str) -> list[int]:
        """The sizes that cannot use all that is free of a node."""
        stranded: list[int] = np.flatnonzero(self._stranded(self._free([node]))[:, 0]).tolist()
        return stranded


def _requesting(handle: StrategyHandle) -> list[Pod]:
    """All pods that run or are pending: the sizes that the cluster has to have room for."""
    return [pod for pod in handle.view.snapshot.pods if not pod.is_terminal]
