"""RemovePodsViolatingNodeReservation: evicts pods that occupy what their node reserves by Koordinator's annotation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec.structs import replace

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.node_reservation import NODE_RESERVATION_ANNOTATION, NodeReservation
from descheduler.model.pod import Pod
from descheduler.plan.facts import PluginFacts
from descheduler.policy.plugin import ArgsProblem, Needs
from descheduler.policy.shared_args import (
    Args,
    LabelSelectorArg,
    Namespaces,
    check_in,
    check_namespaces,
    check_selector,
    one_of,
)
from descheduler.strategies.node_reservation.held_by_reservations import held_by_reservations
from descheduler.strategies.node_reservation.relief import relieve
from descheduler.strategies.node_reservation.reserving_node import ReservingNode
from descheduler.strategies.node_reservation.shortage import Shortage
from descheduler.strategies.shared.pod_filter import pod_filter
from descheduler.strategies.shared.pod_state import FINISHED
from descheduler.strategies.shared.rules import Match, Rule
from descheduler.strategies.shared.selection import Selection

__all__ = ["RemovePodsViolatingNodeReservation", "RemovePodsViolatingNodeReservationArgs", "validate_args"]

_AMOUNT = "Amount"
_RESERVED_CPUS = "ReservedCPUs"
_VIOLATIONS = (_AMOUNT, _RESERVED_CPUS)
_A_RESERVATION = f"a valid annotation {NODE_RESERVATION_ANNOTATION}"


class RemovePodsViolatingNodeReservationArgs(Args, frozen=True):
    """Arguments of RemovePodsViolatingNodeReservation, for nodes with annotation `node.koordinator.sh/reservation`."""

    namespaces: Namespaces | None = None
    """Only pods of these namespaces are examined."""
    label_selector: LabelSelectorArg | None = None
    """Only pods with these labels are examined."""
    violations: tuple[Annotated[str, one_of(_VIOLATIONS)], ...] = ()
    """`Amount`: requests on the node exceed allocatable minus the reservation (policy `Default` of the annotation).
    `ReservedCPUs`: the pod is pinned to CPUs of `reservedCPUs`. Both when empty."""
    resources: tuple[str, ...] = ()
    """Resources, such as `cpu`, whose reserved amounts count; all when empty."""


def validate_args(args: RemovePodsViolatingNodeReservationArgs) -> list[ArgsProblem]:
    """Problems of `args`: contradictory lists, unknown violations, or resources without the violation they are for."""
    problems = [*check_namespaces(args.namespaces), *check_selector("labelSelector", args.label_selector)]
    problems += check_in("violations", args.violations, _VIOLATIONS)
    if args.resources and args.violations and _AMOUNT not in args.violations:
        problems.append(ArgsProblem(("resources",), f"has no effect without {_AMOUNT} in violations"))
    return problems


def needs(_args: RemovePodsViolatingNodeReservationArgs) -> Needs:
    """Reservations, which hold what no pod requests."""
    return Needs(kinds=frozenset({"Reservation.scheduling.koordinator.sh"}))


class RemovePodsViolatingNodeReservation:
    """Koordinator announces such a plugin in its release 1.2 and has none; this one follows the announcement.

    Pods that are pinned to reserved CPUs go first. Then it is as many others as it takes for the requests on the node
    to fit beside the reservation, in Koordinator's order of importance.
    """

    def __init__(self, args: RemovePodsViolatingNodeReservationArgs, handle: StrategyHandle) -> None:
        self._args = args
        self._view = handle.view
        self._evictor = handle.evictor
        self._selection = Selection()
        self._reserving: dict[str, ReservingNode] = {}

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evicts node by node what occupies reserved resources; terminating pods count as gone."""
        self._selection = Selection(self._rules())
        self._reserving = {}
        for node in nodes:
            if node.reservation is None:
                continue
            pods = [pod for pod in self._view.active_pods_on(node.name) if not pod.is_terminating]
            found = self._reserving[node.name] = self._examined(node, node.reservation, pods)
            candidates = [pod for pod in self._selection.of(pods) if self._evictor.admits(pod, found.reason)]
            counted = {*map(id, candidates), *found.owners}
            if not relieve(self._evictor, found, candidates, [pod for pod in pods if id(pod) not in counted]):
                return

    def facts(self) -> PluginFacts:
        """How many nodes reserve something, how many of them are overcommitted, and what left their pods out."""
        num_overcommitted = sum(bool(node.shortage.amounts) for node in self._reserving.values())
        counts = {"reservingNodes": len(self._reserving), "overcommittedNodes": num_overcommitted}
        facts = replace(self._selection.facts(), counts=counts)
        return facts if self._reserving else replace(facts, why_nothing=f"no node has {_A_RESERVATION}")

    def why_not(self, pod: Pod) -> str:
        """That its node reserves nothing, the first rule that `pod` does not meet, or that others go first."""
        if pod.node_name not in self._reserving:
            return f"node {pod.node_name} does not have {_A_RESERVATION}"
        if pod.is_terminal or pod.is_terminating:
            return FINISHED if pod.is_terminal else "the pod is terminating"
        return self._selection.why_not(pod) or f"evicting other pods is enough for node {pod.node_name}"

    def _examined(self, node: Node, reservation: NodeReservation, pods: Sequence[Pod]) -> ReservingNode:
        wanted = self._args.violations or _VIOLATIONS
        held = held_by_reservations(node.name, pods, self._view.snapshot.reservations)
        others = [pod for pod in pods if id(pod) not in held.owners] if _AMOUNT in wanted else []
        shortage = Shortage(node, others, self._args.resources, held.amounts if _AMOUNT in wanted else None)
        cpus = reservation.cpus if _RESERVED_CPUS in wanted else frozenset()
        return ReservingNode(node.name, shortage, cpus, held.owners)

    def _rules(self) -> Iterator[Rule]:
        yield from pod_filter(self._args.namespaces, self._args.label_selector)
        yield Match(
            NODE_RESERVATION_ANNOTATION,
            lambda pod: self._reserving[pod.node_name].is_occupied_by(pod),
            lambda pod: self._reserving[pod.node_name].miss(pod),
            f"no pod occupies what its node reserves (annotation {NODE_RESERVATION_ANNOTATION})",
            lambda pod: self._reserving[pod.node_name].reason(pod),
        )
