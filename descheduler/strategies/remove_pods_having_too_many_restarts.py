"""RemovePodsHavingTooManyRestarts: pods whose containers restarted too often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import (
    Args,
    Int32,
    LabelSelectorArg,
    Namespaces,
    check_in,
    check_namespaces,
    check_selector,
    one_of,
)
from descheduler.strategies.shared.eviction_loop import evict_from_node
from descheduler.strategies.shared.pod_filter import PodFilter
from descheduler.strategies.shared.pod_state import container_statuses, waiting_reasons

__all__ = ["RemovePodsHavingTooManyRestarts", "RemovePodsHavingTooManyRestartsArgs", "validate_args"]

_STATES = ("Running", "CrashLoopBackOff")


class RemovePodsHavingTooManyRestartsArgs(Args, frozen=True):
    """Arguments of RemovePodsHavingTooManyRestarts.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodshavingtoomanyrestarts/types.go`.
    """

    namespaces: Namespaces | None = None
    """Only pods of these namespaces are looked at."""
    label_selector: LabelSelectorArg | None = None
    """Only pods with these labels are looked at."""
    pod_restart_threshold: Int32 = 0
    """Restarts of all containers together from which a pod is selected; required, at least 1."""
    including_init_containers: bool = False
    """Whether init containers count."""
    states: tuple[Annotated[str, one_of(_STATES)], ...] = ()
    """`Running`, `CrashLoopBackOff` or both: only pods in such a state are selected; any state when empty."""


def validate_args(args: RemovePodsHavingTooManyRestartsArgs) -> list[ArgsProblem]:
    """Problems of `args`; a missing threshold is one, since 0 would select every pod."""
    problems = [*check_namespaces(args.namespaces), *check_selector("labelSelector", args.label_selector)]
    if args.pod_restart_threshold < 1:
        message = f"{args.pod_restart_threshold} is below 1 (restarts); the threshold is required"
        problems.append(ArgsProblem(("podRestartThreshold",), message))
    return problems + check_in("states", args.states, _STATES)


class RemovePodsHavingTooManyRestarts:
    """Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodshavingtoomanyrestarts`."""

    def __init__(self, args: RemovePodsHavingTooManyRestartsArgs, handle: StrategyHandle) -> None:
        self._view = handle.view
        self._evictor = handle.evictor
        self._pods = PodFilter(args.namespaces, args.label_selector)
        self._threshold = args.pod_restart_threshold
        self._states = frozenset(args.states)
        self._with_init = args.including_init_containers

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evicts node by node, within a node those with the most restarts first, every pod that restarted too often."""
        for node in nodes:
            victims = [pod for pod in self._view.pods_on(node.name) if self._is_victim(pod)]
            victims.sort(key=self._num_restarts, reverse=True)
            if not evict_from_node(self._evictor, victims, self._sentence):
                return

    def _is_victim(self, pod: Pod) -> bool:
        return (
            self._num_restarts(pod) >= self._threshold
            and self._pods.accepts(pod)
            and self._is_in_state(pod)
            and self._evictor.admits(pod)
            and self._evictor.admits_now(pod)
        )

    def _num_restarts(self, pod: Pod) -> int:
        if not self._with_init and len(pod.container_statuses) == 1:
            return pod.container_statuses[0].restart_count
        return sum(status.restart_count for status in container_statuses(pod, init=self._with_init))

    def _is_in_state(self, pod: Pod) -> bool:
        if not self._states or pod.phase in self._states:
            return True
        return not self._states.isdisjoint(waiting_reasons(pod, init=self._with_init))

    def _sentence(self, pod: Pod) -> str:
        return f"has restarted {self._num_restarts(pod)} times, from {self._threshold} on it is too often"
