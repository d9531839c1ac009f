"""RemovePodsViolatingNodeTaints: pods that do not tolerate a taint of the node they run on."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.taints import NO_SCHEDULE, PREFER_NO_SCHEDULE, Taint, Tolerance
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import Args, LabelSelectorArg, Namespaces, check_namespaces, check_selector
from descheduler.strategies.shared.eviction_loop import evict_from_node
from descheduler.strategies.shared.pod_filter import PodFilter

__all__ = ["RemovePodsViolatingNodeTaints", "RemovePodsViolatingNodeTaintsArgs", "validate_args"]


class RemovePodsViolatingNodeTaintsArgs(Args, frozen=True):
    """Arguments of RemovePodsViolatingNodeTaints. A taint is listed as `key` or `key=value`.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodsviolatingnodetaints/types.go`.
    """

    namespaces: Namespaces | None = None
    """Only pods of these namespaces are looked at."""
    label_selector: LabelSelectorArg | None = None
    """Only pods with these labels are looked at."""
    include_prefer_no_schedule: bool = False
    """Whether taints of effect `PreferNoSchedule` count too."""
    excluded_taints: tuple[str, ...] = ()
    """Taints that do not count."""
    included_taints: tuple[str, ...] | None = None
    """None looks at every taint; an empty list, unlike None, at none."""


def validate_args(args: RemovePodsViolatingNodeTaintsArgs) -> list[ArgsProblem]:
    """Problems of `args`; taints may be included or excluded, not both."""
    problems = [*check_namespaces(args.namespaces), *check_selector("labelSelector", args.label_selector)]
    if args.included_taints and args.excluded_taints:
        problems.append(ArgsProblem(("includedTaints",), "is given next to excludedTaints; keep one of them"))
    return problems


class RemovePodsViolatingNodeTaints:
    """Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodsviolatingnodetaints/node_taint.go`."""

    def __init__(self, args: RemovePodsViolatingNodeTaintsArgs, handle: StrategyHandle) -> None:
        self._args = args
        self._view = handle.view
        self._evictor = handle.evictor
        self._pods = PodFilter(args.namespaces, args.label_selector)
        self._tolerances: dict[int, Tolerance] = {}

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evicts node by node every active pod that does not tolerate all relevant taints of its node."""
        for node in nodes:
            taints = [taint for taint in node.taints if self._is_relevant(taint)]
            if not taints:
                continue
            victims = [pod for pod in self._view.active_pods_on(node.name) if self._is_victim(pod, taints)]
            if not evict_from_node(self._evictor, victims, lambda pod: self._sentence(pod, taints)):  # noqa: B023 - used at once
                return

    def _is_victim(self, pod: Pod, taints: Sequence[Taint]) -> bool:
        return (
            self._pods.accepts(pod)
            and not self._tolerance_of(pod).tolerates_all(taints)
            and self._evictor.admits(pod)
            and self._evictor.admits_now(pod)
        )

    def _sentence(self, pod: Pod, taints: Sequence[Taint]) -> str:
        tolerance = self._tolerance_of(pod)
        taint = next(taint for taint in taints if not tolerance.tolerates(taint))
        value = f"={taint.value}" if taint.value else ""
        return f"does not tolerate taint {taint.key}{value}:{taint.effect} of its node"

    def _tolerance_of(self, pod: Pod) -> Tolerance:
        """What the pod tolerates, found once for all that share its spec, which lives as long as the snapshot."""
        known = self._tolerances.get(id(pod.spec))
        if known is None:
            known = self._tolerances[id(pod.spec)] = Tolerance(pod.spec.tolerations)
        return known

    def _is_relevant(self, taint: Taint) -> bool:
        args = self._args
        if taint.effect != NO_SCHEDULE and not (taint.effect == PREFER_NO_SCHEDULE and args.include_prefer_no_schedule):
            return False
        if any(_names(entry, taint) for entry in args.excluded_taints):
            return False
        return args.included_taints is None or any(_names(entry, taint) for entry in args.included_taints)


def _names(entry: str, taint: Taint) -> bool:
    """Whether a list entry, `key` or `key=value`, means `taint`."""
    return entry == taint.key or (bool(taint.value) and entry == f"{taint.key}={taint.value}")
