"""RemoveFailedPods: evicts pods in phase Failed, optionally only for some reasons or exit codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.policy.shared_args import Int32, UInt
from descheduler.strategies.shared.pod_filter import PodFilterArgs, pod_filter
from descheduler.strategies.shared.pods import LONGEST_AGE_SECONDS, age_seconds, age_words, exit_codes, reasons
from descheduler.strategies.shared.rules import Bound, Match, Rule
from descheduler.strategies.shared.selection import SelectedByState, Selection, evict_from_node

_DEFAULT_MIN_POD_LIFETIME_SECONDS = 3600


class RemoveFailedPodsArgs(PodFilterArgs, frozen=True):
    """Arguments of RemoveFailedPods.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removefailedpods/types.go`.
    """

    exclude_owner_kinds: tuple[str, ...] = ()
    """Pods with an owner of these kinds are not evicted."""
    min_pod_lifetime_seconds: UInt | None = None
    """Pods younger than this are not evicted; an hour when unset."""
    reasons: tuple[str, ...] = ()
    """Reasons of the pod or its containers, one of which must be given; all failed pods when empty."""
    exit_codes: tuple[Int32, ...] = ()
    """Exit codes, one of which a container must have; all failed pods when empty."""
    including_init_containers: bool = False
    """Whether `reasons` and `exitCodes` look at init containers too."""


def default_args(args: RemoveFailedPodsArgs) -> RemoveFailedPodsArgs:
    """`args` with the minimum lifetime of one hour when none is given; 0 is kept."""
    if args.min_pod_lifetime_seconds is not None:
        return args
    return msgspec.structs.replace(args, min_pod_lifetime_seconds=_DEFAULT_MIN_POD_LIFETIME_SECONDS)


class RemoveFailedPods(SelectedByState):
    """Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removefailedpods/failedpods.go`."""

    def __init__(self, args: RemoveFailedPodsArgs, handle: StrategyHandle) -> None:
        super().__init__(handle)
        self._args = args

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evicts node by node the selected pods in phase Failed."""
        self._selection = Selection(_rules(self._args, self._now))
        for node in nodes:
            selected = self._selection.of(self._view.pods_on(node.name))
            victims = [pod for pod in selected if self._evictor.lets_go(pod, self._sentence)]
            if not evict_from_node(self._evictor, victims, self._sentence):
                return

    def _sentence(self, pod: Pod) -> str:
        init = self._args.including_init_containers
        codes = ", ".join(str(code) for code in exit_codes(pod, init=init))
        details = [*dict.fromkeys(reasons(pod, init=init)), *([f"exit code {codes}"] if codes else [])]
        return f"phase Failed ({', '.join(details)})" if details else "phase Failed"


def _rules(args: RemoveFailedPodsArgs, now: datetime) -> Iterator[Rule]:
    """That the pod has failed, whom the plugin looks at, and which failed pods may go."""
    yield Match(
        "status.phase",
        lambda pod: pod.phase == "Failed",
        lambda pod: f"phase {pod.phase}, not Failed",
        "no pod is in phase Failed",
    )
    yield from pod_filter(args.namespaces, args.label_selector)
    if args.min_pod_lifetime_seconds is not None:
        yield _old_enough(args.min_pod_lifetime_seconds, now)
    if args.exclude_owner_kinds:
        yield _not_owned_by(frozenset(args.exclude_owner_kinds))
    if args.reasons:
        yield _failed_for(args)
    if args.exit_codes:
        yield _exited_with(args)


def _old_enough(least_seconds: int, now: datetime) -> Rule:
    def age(pod: Pod) -> int:
        """A pod from the future is old enough for any limit: the reference reads its age as an unsigned number."""
        seconds = age_seconds(pod, now)
        return LONGEST_AGE_SECONDS if seconds < 0 else seconds

    return Bound(
        key="minPodLifetimeSeconds",
        limit=least_seconds,
        least=least_seconds,
        measure=age,
        unit="seconds",
        words=age_words,
        none="no failed pod is old enough",
        superlative="oldest",
    )


def _not_owned_by(kinds: frozenset[str]) -> Rule:
    wanted = f"(excludeOwnerKinds: {', '.join(sorted(kinds))})"
    return Match(
        "excludeOwnerKinds",
        lambda pod: not any(owner.kind in kinds for owner in pod.owners),
        lambda pod: f"owned by {', '.join(owner.kind for owner in pod.owners)} {wanted}",
        f"every failed pod has an excluded owner {wanted}",
    )


def _failed_for(args: RemoveFailedPodsArgs) -> Rule:
    asked, init = frozenset(args.reasons), args.including_init_containers
    wanted = f"(reasons: {', '.join(args.reasons)})"
    return Match(
        "reasons",
        lambda pod: not asked.isdisjoint(reasons(pod, init=init)),
        lambda pod: f"failed for {', '.join(reasons(pod, init=init)) or 'no stated reason'} {wanted}",
        f"no pod failed for one of the reasons {wanted}",
    )


def _exited_with(args: RemoveFailedPodsArgs) -> Rule:
    asked, init = frozenset(args.exit_codes), args.including_init_containers
    wanted = f"(exitCodes: {', '.join(map(str, args.exit_codes))})"

    def miss(pod: Pod) -> str:
        codes = ", ".join(map(str, exit_codes(pod, init=init)))
        return f"exit code {codes} {wanted}" if codes else f"no container has exited {wanted}"

    return Match(
        "exitCodes",
        lambda pod: not asked.isdisjoint(exit_codes(pod, init=init)),
        miss,
        f"no failed pod has such an exit code {wanted}",
    )
