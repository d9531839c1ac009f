"""RemovePodsViolatingNodeReservation: evicts pods that occupy what their node reserves by Koordinator's annotation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Annotated, NamedTuple

import msgspec
from msgspec.structs import replace

from descheduler.cluster.decoding.koordinator.reservations import allocated_reservation
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.annotations import RESERVATION_ALLOCATED_ANNOTATION
from descheduler.model.koordinator.node_reports import NODE_TOPOLOGY_KIND
from descheduler.model.koordinator.reservation import Reservation
from descheduler.model.node import NODE_RESERVATION_ANNOTATION, Node
from descheduler.model.pod import Pod
from descheduler.model.requests import ResourceList, highest
from descheduler.model.verdict import EvictionLimit
from descheduler.plan.facts import PluginFacts
from descheduler.policy.plugin import ArgsProblem, Needs
from descheduler.policy.shared_args import check_in, one_of
from descheduler.strategies.remove_pods_violating_node_reservation.observations import Observations, Required
from descheduler.strategies.remove_pods_violating_node_reservation.relief import postpone, relieve
from descheduler.strategies.remove_pods_violating_node_reservation.reserving_node import (
    ClosedCpus,
    ReservedShortage,
    ReservingNode,
)
from descheduler.strategies.shared.pod_filter import PodFilterArgs, pod_filter
from descheduler.strategies.shared.pods import FINISHED
from descheduler.strategies.shared.rules import Match, Rule
from descheduler.strategies.shared.selection import Selection

_AMOUNT = "Amount"
_RESERVED_CPUS = "ReservedCPUs"
_VIOLATIONS = (_AMOUNT, _RESERVED_CPUS)
_OBSERVATIONS = 2
"""The least that tells a state from an editing error (Koordinator's reference, reserved-resource eviction)."""
_LONGEST_AGE = 10 * 365 * 24 * 3600
_A_RESERVATION = f"a valid annotation {NODE_RESERVATION_ANNOTATION}"


class _HeldByReservations(NamedTuple):
    """Amounts in nano units, and the identities of the owners that they cover."""

    amounts: ResourceList
    owners: frozenset[int]


class RemovePodsViolatingNodeReservationArgs(PodFilterArgs, frozen=True):
    """Arguments of RemovePodsViolatingNodeReservation, for nodes with annotation `node.koordinator.sh/reservation`."""

    violations: tuple[Annotated[str, one_of(_VIOLATIONS)], ...] = ()
    """`Amount`: requests on the node exceed allocatable minus the reservation (policy `Default` of the annotation).
    `ReservedCPUs`: the pod is pinned, by koord-scheduler or by the kubelet, to CPUs of `reservedCPUs`, or to those that
    koordlet chose for a reserved amount of cpu (NodeResourceTopology). Both when empty."""
    resources: tuple[str, ...] = ()
    """Resources, such as `cpu`, whose reserved amounts count; all when empty."""
    consecutive_observations: int | None = None
    """In how many runs in a row, this one included, pods must occupy what a node reserves, under the same reservation,
    before they are evicted. The default is 2, as people edit reservations and correct themselves; 1 evicts at once.
    Runs less than `deschedulingInterval` apart count once. Above 1, runs that remember nothing evict nothing. No number
    is enough when it is not set and `minReservationAgeSeconds` is."""
    min_reservation_age_seconds: int | None = None
    """For how long each run must have seen that pods occupy what a node reserves, under the same reservation, before
    they are evicted. Together with `consecutiveObservations` either of the two is enough. Off when it is not set. The
    time counts from the first run that saw it, as nodes do not say when their annotations were changed; runs that
    remember nothing evict nothing."""


def validate_args(args: RemovePodsViolatingNodeReservationArgs) -> list[ArgsProblem]:
    """Problems of `args`: contradictory lists, unknown violations, or resources without the violation they are for."""
    problems = args.filter_problems()
    problems += check_in("violations", args.violations, _VIOLATIONS)
    if args.resources and args.violations and _AMOUNT not in args.violations:
        problems.append(ArgsProblem(("resources",), f"has no effect without {_AMOUNT} in violations"))
    if args.consecutive_observations is not None and args.consecutive_observations < 1:
        problems.append(ArgsProblem(("consecutiveObservations",), f"{args.consecutive_observations} is below 1"))
    age = args.min_reservation_age_seconds
    if age is not None and not 1 <= age <= _LONGEST_AGE:
        limit = "below 1" if age < 1 else f"above {_LONGEST_AGE} (10 years)"
        problems.append(ArgsProblem(("minReservationAgeSeconds",), f"{age} is {limit}"))
    elif age is not None and args.consecutive_observations == 1:
        problems.append(ArgsProblem(("minReservationAgeSeconds",), "has no effect with consecutiveObservations: 1"))
    return problems


def default_args(args: RemovePodsViolatingNodeReservationArgs) -> RemovePodsViolatingNodeReservationArgs:
    """The arguments with what they leave open."""
    if args.consecutive_observations is not None or args.min_reservation_age_seconds is not None:
        return args
    return msgspec.structs.replace(args, consecutive_observations=_OBSERVATIONS)


def needs(_args: RemovePodsViolatingNodeReservationArgs) -> Needs:
    """Reservations, which hold what no pod requests, and the CPUs that koordlet and the kubelet chose."""
    return Needs(kinds=frozenset({"Reservation.scheduling.koordinator.sh", NODE_TOPOLOGY_KIND}))


class RemovePodsViolatingNodeReservation:
    """Koordinator announces such a plugin in its release 1.2 and has none; this one follows the announcement.

    Pods that are pinned to reserved CPUs go first. Then it is as many others as it takes for the requests on the node
    to fit beside the reservation, in Koordinator's order of importance.
    """

    def __init__(self, args: RemovePodsViolatingNodeReservationArgs, handle: StrategyHandle) -> None:
        self._args = args
        self._handle = handle
        self._view = handle.view
        self._evictor = handle.evictor
        self._selection = Selection()
        self._reserving: dict[str, ReservingNode] = {}
        self._num_spared = 0
        self._observations = self._remembered()

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evicts node by node what occupies reserved resources; terminating pods count as gone."""
        self._selection = Selection(self._rules())
        self._reserving = {}
        self._num_spared = 0
        self._observations = self._remembered()
        reserving = [node for node in nodes if node.reservation is not None]
        for node in reserving:  # all of them before the first eviction, as a limit may end the run
            pods = self._pods_on(node)
            found = self._examined(node, pods)
            if any(map(found.is_occupied_by, pods)):
                self._observations.see(found)
        for node in reserving:
            if not self._relieve(node):
                return

    def note(self) -> bytes:
        """The nodes whose reservation is violated, for the next run."""
        return self._observations.note()

    def facts(self) -> PluginFacts:
        """How many nodes reserve something, how many of them are overcommitted, and what left their pods out."""
        num_overcommitted = sum(bool(node.shortage.amounts) for node in self._reserving.values())
        num_waiting = sum(map(self._observations.waits, self._reserving))
        counts = {
            "reservingNodes": len(self._reserving),
            "overcommittedNodes": num_overcommitted,
            "waitingNodes": num_waiting,
        }
        facts = replace(self._selection.facts().without(NODE_RESERVATION_ANNOTATION, self._num_spared), counts=counts)
        return facts if self._reserving else replace(facts, why_nothing=f"no node has {_A_RESERVATION}")

    def why_not(self, pod: Pod) -> str:
        """That its node reserves nothing, the first rule that `pod` does not meet, or that others go first."""
        if pod.node_name not in self._reserving:
            return f"node {pod.node_name} does not have {_A_RESERVATION}"
        if pod.is_terminal or pod.is_terminating:
            return FINISHED if pod.is_terminal else "the pod is terminating"
        if missed := self._selection.why_not(pod):
            return missed
        if self._observations.waits(pod.node_name):
            return f"the violation on node {pod.node_name} is {self._observations.sentence(pod.node_name)}"
        return f"evicting other pods is enough for node {pod.node_name}"

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """The part of a reservation that the pod occupies there."""
        node = after.nodes[arrival.node_name]
        if node.reservation is None or Selection(self._looked_at()).why_not(arrival):
            return ""
        others = (each for each in after.active_pods_on(node.name) if not each.is_terminating)
        found = self._examined(node, [*others, arrival])
        return found.reason(arrival) if found.is_occupied_by(arrival) else ""

    def _relieve(self, node: Node) -> bool:
        """Whether the run goes on after it."""
        pods = self._pods_on(node)
        found = self._reserving[node.name] = self._examined(node, pods)
        candidates = [pod for pod in self._selection.of(pods) if self._evictor.admits(pod, found.reason)]
        counted = {*map(id, candidates), *found.owners}
        stuck = [pod for pod in pods if id(pod) not in counted]
        if self._observations.waits(node.name):
            relief = postpone(self._evictor, found, candidates, stuck, self._observations.sentence(node.name))
        else:
            relief = relieve(self._evictor, found, candidates, stuck)
        if relief.limit is None:
            self._num_spared += len(candidates) - len(relief.answers)
        return relief.limit is not EvictionLimit.TOTAL or self._observations.waits(node.name)

    def _remembered(self) -> Observations:
        handle, age = self._handle, self._args.min_reservation_age_seconds
        required = Required(self._args.consecutive_observations, None if age is None else timedelta(seconds=age))
        return Observations(handle.memory, handle.now, handle.policy.descheduling_interval, required)

    def _pods_on(self, node: Node) -> list[Pod]:
        return [pod for pod in self._view.active_pods_on(node.name) if not pod.is_terminating]

    def _examined(self, node: Node, pods: Sequence[Pod]) -> ReservingNode:
        wanted = self._args.violations or _VIOLATIONS
        held = held_by_reservations(node.name, pods, self._view.snapshot.reservations)
        others = [pod for pod in pods if id(pod) not in held.owners] if _AMOUNT in wanted else []
        shortage = ReservedShortage(node, others, self._args.resources, held.amounts if _AMOUNT in wanted else None)
        topology = self._view.snapshot.node_topologies.get(node.name)
        closed = ClosedCpus.of(node, topology) if _RESERVED_CPUS in wanted else None
        return ReservingNode(node.name, shortage, closed, held.owners, _stated(node, closed))

    def _looked_at(self) -> Iterator[Rule]:
        return pod_filter(self._args.namespaces, self._args.label_selector)

    def _rules(self) -> Iterator[Rule]:
        yield from self._looked_at()
        yield Match(
            NODE_RESERVATION_ANNOTATION,
            lambda pod: self._reserving[pod.node_name].is_occupied_by(pod),
            lambda pod: self._reserving[pod.node_name].miss(pod),
            f"no pod occupies what its node reserves (annotation {NODE_RESERVATION_ANNOTATION})",
            lambda pod: self._reserving[pod.node_name].reason(pod),
        )


def _stated(node: Node, closed: ClosedCpus | None) -> object:
    """What differs when the reservation does."""
    reservation = node.reservation
    amounts = () if reservation is None else (*sorted(reservation.amounts.items()), reservation.withholds_amounts)
    return amounts, () if closed is None else sorted(closed.cpus)


def held_by_reservations(
    node_name: str, pods: Sequence[Pod], reservations: Iterable[Reservation]
) -> _HeldByReservations:
    """What active Reservations hold on the node beyond its other `pods`.

    Of one that is for many pods that is what it reserves, or what its owners request where that is more. One for a
    single pod holds nothing once it has an owner.
    """
    amounts: dict[str, int] = {}
    covered: set[int] = set()
    for reservation in reservations:
        if not reservation.is_active or reservation.node_name != node_name:
            continue
        owners = [pod for pod in pods if _uid_of(pod) == reservation.uid]
        if owners and reservation.allocate_once:
            continue
        covered.update(map(id, owners))
        requested: dict[str, int] = {}
        for pod in owners:
            for name, nano in pod.spec.requests.items():
                requested[name] = requested.get(name, 0) + nano
        for name, nano in highest((reservation.amounts, requested)).items():
            amounts[name] = amounts.get(name, 0) + nano
    return _HeldByReservations(amounts, frozenset(covered))


def _uid_of(pod: Pod) -> str | None:
    text = pod.annotations.get(RESERVATION_ALLOCATED_ANNOTATION)
    return allocated_reservation(text) if text else None
