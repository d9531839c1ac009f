"""RemovePodsHavingTooManyRestarts: evicts pods whose containers restarted too often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import Int32, check_in, one_of
from descheduler.strategies.shared.pod_filter import PodFilterArgs, pod_filter
from descheduler.strategies.shared.pods import waiting_reasons
from descheduler.strategies.shared.rules import Bound, Match, Rule
from descheduler.strategies.shared.selection import SelectedByState, Selection, evict_from_node

_STATES = ("Running", "CrashLoopBackOff")


class RemovePodsHavingTooManyRestartsArgs(PodFilterArgs, frozen=True):
    """Arguments of RemovePodsHavingTooManyRestarts.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodshavingtoomanyrestarts/types.go`.
    """

    pod_restart_threshold: Int32 = 0
    """Restarts of all containers together from which a pod is selected; required, at least 1."""
    including_init_containers: bool = False
    """Whether init containers count."""
    states: tuple[Annotated[str, one_of(_STATES)], ...] = ()
    """`Running`, `CrashLoopBackOff` or both: only pods in such a state are selected; any state when empty."""


def validate_args(args: RemovePodsHavingTooManyRestartsArgs) -> list[ArgsProblem]:
    """Problems of `args`; a missing threshold is one, since 0 would select every pod."""
    problems = args.filter_problems()
    if args.pod_restart_threshold < 1:
        message = f"{args.pod_restart_threshold} is below 1 (restarts); the threshold is required"
        problems.append(ArgsProblem(("podRestartThreshold",), message))
    return problems + check_in("states", args.states, _STATES)


class RemovePodsHavingTooManyRestarts(SelectedByState):
    """Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodshavingtoomanyrestarts`."""

    def __init__(self, args: RemovePodsHavingTooManyRestartsArgs, handle: StrategyHandle) -> None:
        super().__init__(handle)
        self._args = args

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evicts node by node, within a node those with the most restarts first, every pod that restarted too often."""
        self._selection = Selection(_rules(self._args))
        for node in nodes:
            selected = self._selection.of(self._view.pods_on(node.name))
            victims = [pod for pod in selected if self._evictor.lets_go(pod, self._sentence)]
            victims.sort(key=self._num_restarts, reverse=True)
            if not evict_from_node(self._evictor, victims, self._sentence):
                return

    def _num_restarts(self, pod: Pod) -> int:
        return _num_restarts(pod, init=self._args.including_init_containers)

    def _sentence(self, pod: Pod) -> str:
        times = counted(self._num_restarts(pod), "time")
        return f"restarted {times} (podRestartThreshold: {self._args.pod_restart_threshold})"


def _rules(args: RemovePodsHavingTooManyRestartsArgs) -> Iterator[Rule]:
    """Whom the plugin looks at, the restarts, and the state."""
    init = args.including_init_containers
    yield from pod_filter(args.namespaces, args.label_selector)
    yield Bound(
        key="podRestartThreshold",
        limit=args.pod_restart_threshold,
        least=args.pod_restart_threshold,
        measure=(lambda pod: _num_restarts(pod, init=True)) if init else _num_restarts,
        unit="restarts",
        words=lambda number: counted(number, "restart"),
        none="no pod restarted often enough",
        superlative="highest",
    )
    if args.states:
        yield _in_state(args)


def _in_state(args: RemovePodsHavingTooManyRestartsArgs) -> Rule:
    states, init = frozenset(args.states), args.including_init_containers
    wanted = f"(states: {', '.join(args.states)})"
    return Match(
        "states",
        lambda pod: pod.phase in states or not states.isdisjoint(waiting_reasons(pod, init=init)),
        lambda pod: f"{', '.join([f'phase {pod.phase}', *waiting_reasons(pod, init=init)])} {wanted}",
        f"no pod with enough restarts is in one of the states {wanted}",
    )


def _num_restarts(pod: Pod, *, init: bool = False) -> int:
    # Asked of every pod of the cluster, of which most have one container: generators take longer than counting.
    number = 0
    for status in pod.container_statuses:
        number += status.restart_count
    if init:
        for status in pod.init_container_statuses:
            number += status.restart_count
    return number
