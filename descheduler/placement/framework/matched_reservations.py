"""Reservations that the pod of a cycle may use: told by the plugin that knows them to those that hold things by the
piece, such as devices, and what these have to say of each.

These are the points ReservationRestore, FilterNominateReservation and ScoreReservation of Koordinator's framework
extension (koordinator 1.8 `pkg/scheduler/frameworkext/interface.go`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import msgspec

from descheduler.model.koordinator.devices import AllocatedDevice
from descheduler.placement.shadow.shadow_cluster import Cycle, Placed


class Allocation(msgspec.Struct, frozen=True):
    """One thing on a node that `plugin` allocates to a pod, and how much of it.

    `kind` says what it is, such as gpu or reservation; `name` tells it from others of its kind on the node, such as the
    minor of a device. `resources` are amounts in the units of requests.
    """

    plugin: str
    kind: str
    name: str
    resources: Mapping[str, int] = msgspec.field(default_factory=dict)


@runtime_checkable
class TellingLedger(Protocol):
    """A ledger that tells what it took by name. Other ledgers need no such method."""

    def allocations(self, taken: Any) -> tuple[Allocation, ...]:
        """What `taken`, which one `reserve` gave, is made of, in the order in which it is shown."""


def allocations_of(placed: Placed) -> tuple[Allocation, ...]:
    """What was taken for a placed pod by name, ledger by ledger."""
    return tuple(
        allocation
        for ledger, taken in placed.takings
        if isinstance(ledger, TellingLedger)
        for allocation in ledger.allocations(taken)
    )


_MATCHED = "matched reservations"
_NOMINATED = "nominated reservations"
_NOMINEE_PLUGINS = "nominee plugins"
_TAKEN = "taken devices"

DevicesByMinor = Mapping[str, Mapping[int, Mapping[str, int]]]
"""Amounts by device type, minor and resource."""


class MatchedReservation(NamedTuple):
    """A Reservation that the pod of a cycle may use.

    It is no pod on its node to that pod, so that all it holds counts as free there; `annotations` say what plugins gave
    it when it was bound. `devices` is what its owners have left of its devices. They are preferred to other ones; where
    it `restricts`, the pod gets nothing but these, of the types that it holds.
    """

    name: str
    annotations: Mapping[str, str] = {}
    devices: Mapping[str, Mapping[int, Mapping[str, int]]] = {}
    restricts: bool = False


class MatchedReservations(NamedTuple):
    """The Reservations of one node, in the order in which they are tried.

    Unless that `is_required`, the whole node is tried after them.
    """

    reservations: tuple[MatchedReservation, ...] = ()
    is_required: bool = False


@runtime_checkable
class NomineePlugin(Protocol):
    """A plugin that has a say in which Reservation a pod uses on a node. It is asked after its own PreFilter.

    All plugins of a profile are asked that have the methods, at whatever point they are enabled.
    """

    def filter_reservation(self, cycle: Cycle, node: int, reservation: MatchedReservation) -> bool:
        """Whether the pod gets what it needs on `node` out of `reservation` and what nothing holds."""

    def score_reservations(self, cycle: Cycle, node: int, reservations: Sequence[MatchedReservation]) -> Sequence[int]:
        """How good each is for the pod, 0 to 100, one score a Reservation."""


def restore_reservations(cycle: Cycle, by_node: Mapping[int, MatchedReservations]) -> None:
    """Tells which Reservations match the pod, by node, before PreFilter."""
    cycle.scratch[_MATCHED] = by_node


def matched_reservations(cycle: Cycle) -> Mapping[int, MatchedReservations]:
    """What was told of the pod of `cycle`, by node."""
    found = cycle.scratch.get(_MATCHED)
    return found if isinstance(found, Mapping) else {}


def call_nominee_plugins(cycle: Cycle, plugins: Sequence[NomineePlugin]) -> None:
    """Tells who is asked about the Reservations that match the pod."""
    cycle.scratch[_NOMINEE_PLUGINS] = plugins


def nominee_plugins(cycle: Cycle) -> Sequence[NomineePlugin]:
    """The plugins that nominate in the scheduler of `cycle`."""
    found = cycle.scratch.get(_NOMINEE_PLUGINS)
    return found if isinstance(found, Sequence) else ()


def nominate_reservation(cycle: Cycle, node: int, reservation: MatchedReservation) -> None:
    """Tells which Reservation the pod uses if it goes to `node`, before nodes are scored."""
    nominated = cycle.scratch.setdefault(_NOMINATED, {})
    assert isinstance(nominated, dict)  # noqa: S101 - nobody else has the key
    nominated[node] = reservation


def nominated_reservation(cycle: Cycle, node: int) -> MatchedReservation | None:
    """The Reservation that the pod uses on `node`; ledgers take what they take out of it first."""
    return nominated_reservations(cycle).get(node)


def nominated_reservations(cycle: Cycle) -> Mapping[int, MatchedReservation]:
    """The same by node."""
    found = cycle.scratch.get(_NOMINATED)
    return found if isinstance(found, Mapping) else {}


def taken_devices(cycle: Cycle) -> dict[str, tuple[AllocatedDevice, ...]]:
    """The devices that the pod of `cycle` gets, by type: filled in at Reserve, for whoever has asked before.

    For one that stands for a Reservation nothing else keeps them: the keeper of the cycle has to.
    """
    found = cycle.scratch.setdefault(_TAKEN, {})
    assert isinstance(found, dict)  # noqa: S101 - nobody else has the key
    return found
