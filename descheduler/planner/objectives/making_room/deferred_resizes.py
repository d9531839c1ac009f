"""MakeRoom for deferred in-place resizes: room on the node of each such pod, or on another one, by few evictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.optimizer.objectives.balance_utilization import BalanceUtilization
from descheduler.planner.objective_args import BalanceUtilizationArgs, MakeRoomArgs
from descheduler.planner.objectives.balance_utilization import BalanceUtilizationObjective
from descheduler.planner.problem.cluster_problem import ClusterProblem
from descheduler.planner.utilization.targets import NO_CEILING
from descheduler.policy.shared_args import Namespaces, compile_selector

_ALL_OF_IT = {"cpu": 100.0, "memory": 100.0}
"""What can be resized in place. The scheduler counts what such a pod asks for, so that its node is over this."""


class DeferredResizesObjective(BalanceUtilizationObjective):
    """Nodes of pods whose in-place resize is deferred, with room for all that their pods ask for.

    As balancing has it, with these nodes alone, and all that is allocatable as their target.
    """

    name = "MakeRoom"
    noun, state = "node", "without room for a deferred resize"
    left_text = "has no room for a deferred resize"

    def __init__(self, args: MakeRoomArgs, handle: StrategyHandle, nodes: Sequence[Node]) -> None:
        super().__init__(BalanceUtilizationArgs(target_thresholds=_ALL_OF_IT), handle, nodes)
        self._resizing = _resizing_pods(args, handle, nodes)
        self._names &= self._resizing.keys()
        self._over_before = self._over()

    def targets(self) -> Mapping[str, float]:
        """None: what is allocatable is the limit of each node."""
        return {}

    def nothing_to_do(self) -> str:
        """That no pod waits for a resize, or that there is room for all of them."""
        if self._over_before:
            return ""
        num_pods = sum(map(len, self._resizing.values()))
        if not num_pods:
            return "no pod with a deferred in-place resize is selected (makeRoom.for: deferredResizes)"
        return f"{counted(num_pods, 'pod')} with a deferred in-place resize: their nodes have room for it"

    def stated_over(self, cluster: ClusterProblem) -> BalanceUtilization:
        """The nodes of such pods have to have room for them; nothing is said of others."""
        ceiling = super().stated_over(cluster).ceiling
        is_meant = np.isin(np.array(cluster.nodes), list(self._names))
        return BalanceUtilization(np.where(is_meant[:, None], ceiling, NO_CEILING))

    def reason(self, pod: Pod) -> str:
        """Whose resize needs the room."""
        waiting = self._resizing.get(pod.node_name, ())
        if any(each is pod for each in waiting):
            return f"its in-place resize is deferred: node {pod.node_name} has no room for it"
        if pod.node_name not in self._over_before:
            return f"makes room on node {pod.node_name} for pods that leave nodes {self.state}"
        others = f" and {counted(len(waiting) - 1, 'other')}" if len(waiting) > 1 else ""
        return f"makes room on node {pod.node_name} for the deferred in-place resize of pod {waiting[0].key}{others}"

    def harm(self, pod: Pod, node: str) -> Verdict:
        """That the replacement takes the room."""
        if node not in self._names or not self._targets.resources_over(self._known(node), self._usage.most_after(pod)):
            return ACCEPTED
        message = f"the replacement pod would be scheduled onto {node}, which has no room for a deferred resize then"
        return refuse(Reason.OTHER_LANDING, message, node)

    def why_not(self, pod: Pod) -> str:
        """What became of its node."""
        name = pod.node_name
        if name not in self._selected:
            return f"node {name} is not one of the nodes that the policy selects"
        if name not in self._resizing:
            return f"node {name} has no pod with a deferred in-place resize"
        if name not in self._over():
            return f"node {name} has room for the deferred in-place resizes of its pods"
        return f"node {name} {self.left_text}: no plan found within the limits moves enough of its pods"


def _resizing_pods(args: MakeRoomArgs, handle: StrategyHandle, nodes: Sequence[Node]) -> Mapping[str, Sequence[Pod]]:
    """By node the pods that `args` select, whose in-place resize is deferred; nodes without any are left out."""
    namespaces, selector = args.namespaces or Namespaces(), compile_selector(args.label_selector)
    found = dict[str, list[Pod]]()
    for node in nodes:
        for pod in handle.view.active_pods_on(node.name):
            is_included = not namespaces.include or pod.namespace in namespaces.include
            is_selected = is_included and pod.namespace not in namespaces.exclude
            if is_selected and pod.is_resize_deferred and (selector is None or selector.matches(pod.labels)):
                found.setdefault(node.name, []).append(pod)
    return found
