"""RemovePodsViolatingTopologySpreadConstraint: evicts pods from topology domains that hold too many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.verdict import EvictionLimit, Reason, refuse
from descheduler.plan.facts import PluginFacts
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import (
    Args,
    LabelSelectorArg,
    Namespaces,
    check_in,
    check_namespaces,
    check_selector,
    one_of,
)
from descheduler.strategies.remove_pods_violating_topology_spread_constraint.constraints import (
    PodConstraint,
    distinct_constraints,
    states_constraint,
)
from descheduler.strategies.remove_pods_violating_topology_spread_constraint.tally import SpreadTally
from descheduler.strategies.shared.pod_filter import pod_filter
from descheduler.strategies.shared.pods import FINISHED
from descheduler.strategies.shared.selection import Selection

if TYPE_CHECKING:  # numpy takes longer to import than validating a policy may
    from descheduler.strategies.remove_pods_violating_topology_spread_constraint.domains import SpreadDomains
    from descheduler.strategies.remove_pods_violating_topology_spread_constraint.settled import SettledDomains
    from descheduler.strategies.remove_pods_violating_topology_spread_constraint.surplus import (
        Listing,
        RoomBelow,
        Surplus,
    )

_MOST_KEPT = 256
"""So many constraints' findings are kept at a time, since each may name thousands of pods."""
_CONSTRAINTS = ("DoNotSchedule", "ScheduleAnyway")


class RemovePodsViolatingTopologySpreadConstraintArgs(Args, frozen=True):
    """Arguments of RemovePodsViolatingTopologySpreadConstraint.

    Source: kubernetes-sigs/descheduler 0.36
    `pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint/types.go`.
    """

    namespaces: Namespaces | None = None
    """Only pods of these namespaces are examined and counted."""
    label_selector: LabelSelectorArg | None = None
    """Only pods with these labels are examined and counted."""
    constraints: tuple[Annotated[str, one_of(_CONSTRAINTS)], ...] = ()
    """Which `whenUnsatisfiable` values count; `DoNotSchedule` when empty."""
    topology_balance_node_fit: bool | None = None
    """Whether only pods that fit a node of a domain below average are moved; True when unset."""


def validate_args(args: RemovePodsViolatingTopologySpreadConstraintArgs) -> list[ArgsProblem]:
    """Problems of the namespaces, the label selector and the list of constraints."""
    return [
        *check_namespaces(args.namespaces),
        *check_selector("labelSelector", args.label_selector),
        *check_in("constraints", args.constraints, _CONSTRAINTS),
    ]


def default_args(
    args: RemovePodsViolatingTopologySpreadConstraintArgs,
) -> RemovePodsViolatingTopologySpreadConstraintArgs:
    """`args` with node fit on unless said otherwise, and hard constraints only when none are named."""
    return msgspec.structs.replace(
        args,
        constraints=args.constraints or ("DoNotSchedule",),
        topology_balance_node_fit=args.topology_balance_node_fit is not False,
    )


class RemovePodsViolatingTopologySpreadConstraint:
    """Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint`."""

    def __init__(self, args: RemovePodsViolatingTopologySpreadConstraintArgs, handle: StrategyHandle) -> None:
        self._view = handle.view
        self._node_fit = handle.node_fit
        self._evictor = handle.evictor
        self._args = args
        self._looked_at = Selection()
        self._tally = SpreadTally(f"(constraints: {', '.join(args.constraints)})")
        self._whens = frozenset(args.constraints)
        self._needs_fit = args.topology_balance_node_fit is not False
        self._takes_highest_first = handle.policy.compatibility == "upstream"
        self._below: dict[tuple[str, ...], RoomBelow] = {}
        self._found: dict[object, Surplus] = {}
        self._nodes: Sequence[Node] = ()
        self._marked_for: dict[int, PodConstraint] = {}
        self._counted: set[int] = set()
        self._settled: SettledDomains | None = None

    def balance(self, nodes: Sequence[Node]) -> None:
        """Marks, constraint by constraint, the pods that make domains too full, then evicts what was marked.

        A marked pod still counts for every other constraint. Pods that cannot be evicted are not counted.
        """
        from descheduler.strategies.remove_pods_violating_topology_spread_constraint.domains import DomainFinder
        from descheduler.strategies.remove_pods_violating_topology_spread_constraint.surplus import Listing

        self._looked_at = Selection(pod_filter(self._args.namespaces, self._args.label_selector))
        self._tally = SpreadTally(f"(constraints: {', '.join(self._args.constraints)})")
        finder = DomainFinder(nodes)
        self._below.clear()
        self._found.clear()
        self._nodes, self._settled = nodes, None
        self._marked_for.clear()
        self._counted.clear()
        marked: list[tuple[Pod, str]] = []
        for namespace, listed in self._listed_by_namespace(nodes):
            # Pods that are to arrive cannot be evicted, and are on their node all the same.
            pods = [pod for pod in listed if self._view.is_arrival(pod) or self._evictor.filter(pod).is_accepted]
            listing = Listing(
                pods,
                highest_first=self._takes_highest_first,
                is_arrival=self._view.is_arrival,
                is_gone=self._view.prior_moves.have_taken,
            )
            for constraint in distinct_constraints(pods, self._whens):
                domains = finder.find(constraint, listing.index)
                skew = domains.skew
                self._tally.note_skew(constraint, skew, namespace)
                surplus = self._judged(constraint, domains, skew, listing)
                if surplus is not None:
                    marked += self._marked(surplus, listing, constraint)
                    self._keep_without_room(surplus.kept(listing), constraint)
            self._tally.note_namespace(len(listed), len(pods), listing.num_selected)
        self._evict(marked)

    def facts(self) -> PluginFacts:
        """How many constraints there are, and the largest skew beside its limit."""
        return self._tally.facts(self._looked_at.facts())

    def why_not(self, pod: Pod) -> str:
        """That it is not looked at, or the largest skew of the constraints that count it."""
        if pod.is_terminal:
            return FINISHED
        return self._looked_at.why_not(pod) or self._tally.why_not(pod)

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """How many pods the domain of the node has then, when some of them leave for the same constraint."""
        from descheduler.strategies.remove_pods_violating_topology_spread_constraint.settled import SettledDomains

        constraint = self._marked_for.get(id(pod))
        if constraint is None or self._looked_at.why_not(arrival):
            return ""
        if self._settled is None:
            self._settled = SettledDomains(self._nodes, after, lambda each: self._counts(each, after))
        return self._settled.excess(arrival, constraint)

    def _counts(self, pod: Pod, after: ClusterView) -> bool:
        return id(pod) in self._counted or (after.is_arrival(pod) and not self._looked_at.why_not(pod))

    def _listed_by_namespace(self, nodes: Sequence[Node]) -> list[tuple[str, list[Pod]]]:
        """The pods looked at, by namespace; namespaces where no pod states a constraint are left out."""
        by_namespace: dict[str, list[Pod]] = {}
        constrained: set[str] = set()
        for node in nodes:
            for pod in self._looked_at.of(self._view.active_pods_on(node.name)):
                namespace = pod.namespace
                by_namespace.setdefault(namespace, []).append(pod)
                if namespace not in constrained and pod.spec.topology_spread and states_constraint(pod, self._whens):
                    constrained.add(namespace)
        self._tally.leave_out(sum(len(pods) for name, pods in by_namespace.items() if name not in constrained))
        return [(name, pods) for name, pods in sorted(by_namespace.items()) if name in constrained]

    def _judged(self, constraint: PodConstraint, domains: SpreadDomains, skew: int, listing: Listing) -> Surplus | None:
        """The pods that are to leave for `constraint`, found once for those that count the same pods and nodes."""
        from descheduler.strategies.remove_pods_violating_topology_spread_constraint.surplus import find_surplus

        if skew <= constraint.max_skew or not (len(domains.places) or domains.num_empty):
            return None
        key = constraint.max_skew, constraint.topology_key, domains.digest()
        known = self._found.get(key)
        if known is None:
            if len(self._found) >= _MOST_KEPT:
                self._found.clear()
            known = self._found[key] = find_surplus(
                constraint, domains, listing, room_below=self._room_below, needs_room=self._needs_fit
            )
        return known

    def _room_below(self, nodes: Sequence[Node]) -> RoomBelow:
        """What is known of these nodes, which many constraints share; nothing is evicted while constraints are read."""
        from descheduler.strategies.remove_pods_violating_topology_spread_constraint.surplus import RoomBelow

        names = tuple(node.name for node in nodes)
        known = self._below.get(names)
        if known is None:
            known = self._below[names] = RoomBelow(self._node_fit, nodes)
        return known

    def _keep_without_room(self, pods: Iterable[tuple[Pod, str]], constraint: PodConstraint) -> None:
        message = (
            f"the pod fits on no node in a less full domain of {constraint.topology_key} (topologyBalanceNodeFit: true)"
        )
        verdict = refuse(Reason.NO_NODE_FITS, message, constraint.topology_key)
        for pod, sentence in pods:
            self._evictor.keep(pod, verdict, sentence)
            self._tally.note_without_room(pod)

    def _marked(self, surplus: Surplus, listing: Listing, constraint: PodConstraint) -> list[tuple[Pod, str]]:
        """The pods that leave for `constraint`, and no other before it, each with its sentence."""
        marked = list(surplus.marked_first(listing))
        self._marked_for.update((id(pod), constraint) for pod, _ in marked)
        if marked:
            self._counted.update(map(id, listing.index.all_pods))
        return marked

    def _evict(self, marked: Sequence[tuple[Pod, str]]) -> None:
        full_nodes: set[str] = set()
        for pod, sentence in marked:
            if pod.node_name in full_nodes or not self._evictor.lets_go(pod, sentence):
                continue
            verdict = self._evictor.request(pod, sentence)
            if verdict.limit is EvictionLimit.TOTAL:
                return
            if verdict.limit is EvictionLimit.NODE:
                full_nodes.add(pod.node_name)
