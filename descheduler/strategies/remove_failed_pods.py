"""RemoveFailedPods: pods in phase Failed, optionally only for some reasons or exit codes."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import (
    Args,
    Int32,
    LabelSelectorArg,
    Namespaces,
    UInt,
    check_namespaces,
    check_selector,
)
from descheduler.strategies.shared.eviction_loop import evict_from_node
from descheduler.strategies.shared.pod_age import age_seconds
from descheduler.strategies.shared.pod_filter import PodFilter
from descheduler.strategies.shared.pod_state import exit_codes, reasons

__all__ = ["RemoveFailedPods", "RemoveFailedPodsArgs", "default_args", "validate_args"]

_DEFAULT_MIN_POD_LIFETIME_SECONDS = 3600


class RemoveFailedPodsArgs(Args, frozen=True):
    """Arguments of RemoveFailedPods.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removefailedpods/types.go`.
    """

    namespaces: Namespaces | None = None
    """Only pods of these namespaces are looked at."""
    label_selector: LabelSelectorArg | None = None
    """Only pods with these labels are looked at."""
    exclude_owner_kinds: tuple[str, ...] = ()
    """Pods with an owner of these kinds stay."""
    min_pod_lifetime_seconds: UInt | None = None
    """Pods younger than this stay; an hour when unset."""
    reasons: tuple[str, ...] = ()
    """Reasons of the pod or its containers, one of which must be given; all failed pods when empty."""
    exit_codes: tuple[Int32, ...] = ()
    """Exit codes, one of which a container must have; all failed pods when empty."""
    including_init_containers: bool = False
    """Whether `reasons` and `exitCodes` look at init containers too."""


def validate_args(args: RemoveFailedPodsArgs) -> list[ArgsProblem]:
    """Problems of the namespaces and the label selector."""
    return [*check_namespaces(args.namespaces), *check_selector("labelSelector", args.label_selector)]


def default_args(args: RemoveFailedPodsArgs) -> RemoveFailedPodsArgs:
    """`args` with the minimum lifetime of one hour when none is given; 0 is kept."""
    if args.min_pod_lifetime_seconds is not None:
        return args
    return msgspec.structs.replace(args, min_pod_lifetime_seconds=_DEFAULT_MIN_POD_LIFETIME_SECONDS)


class RemoveFailedPods:
    """Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removefailedpods/failedpods.go`."""

    def __init__(self, args: RemoveFailedPodsArgs, handle: StrategyHandle) -> None:
        self._now = handle.now
        self._view = handle.view
        self._evictor = handle.evictor
        self._pods = PodFilter(args.namespaces, args.label_selector)
        self._least_age_seconds = args.min_pod_lifetime_seconds
        self._excluded_owner_kinds = frozenset(args.exclude_owner_kinds)
        self._reasons = frozenset(args.reasons)
        self._exit_codes = frozenset(args.exit_codes)
        self._with_init = args.including_init_containers

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evicts node by node the selected pods in phase Failed."""
        for node in nodes:
            victims = [pod for pod in self._view.pods_on(node.name) if self._is_victim(pod)]
            if not evict_from_node(self._evictor, victims, self._sentence):
                return

    def _is_victim(self, pod: Pod) -> bool:
        return (
            pod.phase == "Failed"
            and self._pods.accepts(pod)
            and self._is_old_enough(pod)
            and not any(owner.kind in self._excluded_owner_kinds for owner in pod.owners)
            and (not self._reasons or not self._reasons.isdisjoint(reasons(pod, init=self._with_init)))
            and (not self._exit_codes or not self._exit_codes.isdisjoint(exit_codes(pod, init=self._with_init)))
            and self._evictor.admits(pod)
            and self._evictor.admits_now(pod)
        )

    def _is_old_enough(self, pod: Pod) -> bool:
        """A pod from the future is old enough for any limit: the reference reads its age as an unsigned number."""
        age = age_seconds(pod, self._now)
        return self._least_age_seconds is None or age < 0 or age >= self._least_age_seconds

    def _sentence(self, pod: Pod) -> str:
        given = list(reasons(pod, init=self._with_init))
        codes = [str(code) for code in exit_codes(pod, init=self._with_init)]
        details = [", ".join(given), f"exit code {', '.join(codes)}" if codes else ""]
        return ": ".join(["has failed", *(detail for detail in details if detail)])
