"""What pods see of Reservations: which are for them with what these give back, and what stands for the others.

All of it is kept from cycle to cycle, and brought up to date for those Reservations that have changed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.placement.framework.matched_reservations import MatchedReservation, MatchedReservations
from descheduler.placement.plugins.reservation.holdings import HeldReservation, Holdings
from descheduler.placement.plugins.reservation.pod_protocol import OwnerMatch, ReservationRequest, match
from descheduler.placement.shadow.node_table import NodeTable
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.views import SeenPod

_MOST_CELLS = 1_000_000
"""Placement classes times Reservations of which is kept what came of them."""
_LEAST_CLASSES = 16
_NUM_RECENT = 4
_DEFAULT_POLICY = ""


class StandIns:
    """What stands for each Reservation that holds room, for pods that may use none."""

    def __init__(self, holdings: Holdings) -> None:
        self._holdings = holdings
        self._place = {held: place for place, held in enumerate(holdings.held)}
        self._num_known = 0
        self._recent: deque[tuple[SeenPod, ...]] = deque(maxlen=_NUM_RECENT)
        self._by_policy: tuple[tuple[SeenPod, ...] | None, _NodesByPolicy] = None, _NodesByPolicy.of(())
        self.by_place: list[SeenPod | None] = [_stand_in(held) for held in holdings.held]
        self._restored: dict[int, MatchedReservation] = {}
        self.all: tuple[SeenPod, ...] = ()
        self._collect()

    def changed_since(self, num_changes: int) -> set[int]:
        """The places, in the order of the holdings, of those of which something changed after that many changes."""
        return {self._place[held] for held in self._holdings.changes[num_changes:]}

    def keep_up(self) -> int:
        """Brings everything up to date. How many changes there were so far."""
        num_changes = len(self._holdings.changes)
        if self._num_known < num_changes:
            for place in self.changed_since(self._num_known):
                self._restored.pop(place, None)
                found, known = _stand_in(self._holdings.held[place]), self.by_place[place]
                if found != known:
                    self.by_place[place] = found
            self._num_known = num_changes
            self._collect()
        return num_changes

    def restored(self, place: int) -> MatchedReservation:
        """What the Reservation at this place gives back to pods that may use it."""
        found = self._restored.get(place)
        if found is None:
            found = self._restored[place] = self._holdings.held[place].restored()
        return found

    def against(self, policy: str) -> NDArray[np.intp]:
        """The nodes with Reservations of another allocatePolicy that exclude one of `policy`, if either has none."""
        if self._by_policy[0] is not self.all:
            active = (held for held in self._holdings.held if held.is_active)
            self._by_policy = self.all, _NodesByPolicy.of(active)
        nodes = self._by_policy[1]
        return nodes.with_policy if policy == _DEFAULT_POLICY else nodes.without_policy

    def _collect(self) -> None:
        """The same tuple as before where nothing is different after all, as when a what-if was taken back."""
        found = tuple([seen for seen in self.by_place if seen is not None])
        for known in self._recent:
            if known == found:
                self.all = known
                return
        self._recent.append(found)
        self.all = found


class _NodesByPolicy(NamedTuple):
    """The nodes of Reservations with an allocatePolicy, and of those without one."""

    with_policy: NDArray[np.intp]
    without_policy: NDArray[np.intp]

    @classmethod
    def of(cls, active: Iterable[HeldReservation]) -> _NodesByPolicy:
        """The nodes of `active`, by policy."""
        nodes: dict[bool, set[int]] = {False: set(), True: set()}
        for held in active:
            nodes[held.reservation.allocate_policy != _DEFAULT_POLICY].add(held.node)
        return cls(*(np.array(sorted(nodes[has_policy]), dtype=np.intp) for has_policy in (True, False)))


class Sight(NamedTuple):
    """`matches` is what came of each Reservation on a node that the pod's own terms select, `usable` are by node those
    whose room the pod may use, `restored` is what these give back, and `seen` is what stands for the others. `matched`
    is what other plugins are told, by node. None of them is to be written to."""

    matches: list[tuple[HeldReservation, OwnerMatch]]
    usable: dict[int, list[HeldReservation]]
    seen: tuple[SeenPod, ...]
    restored: dict[HeldReservation, MatchedReservation]
    matched: Mapping[int, MatchedReservations]


class _Kept:
    """What came of each Reservation, in the order of the holdings; None of those that are not looked at. `restored` is
    what those give back whose room the pod may use."""

    __slots__ = ("by_place", "num_known", "restored", "sight")

    def __init__(self, num_held: int) -> None:
        self.by_place: list[OwnerMatch | None] = [None] * num_held
        self.restored: dict[HeldReservation, MatchedReservation] = {}
        self.num_known = -1
        self.sight = Sight([], {}, (), {}, {})


class Sights:
    """The sights of placement classes. `match` is asked once for a class and a Reservation on a node."""

    def __init__(self, holdings: Holdings, table: NodeTable) -> None:
        self.stand_ins = StandIns(holdings)
        self._held = holdings.held
        self._table = table
        self._kept: dict[PlacementClass, _Kept] = {}
        self._most = max(_LEAST_CLASSES, _MOST_CELLS // max(1, len(self._held)))

    def of(self, pod: PlacementClass, request: ReservationRequest) -> Sight:
        """What pods of this class, which say `request`, see as things are."""
        kept = self._kept.get(pod)
        if kept is None:
            if len(self._kept) >= self._most:
                self._kept.clear()
            kept = self._kept[pod] = _Kept(len(self._held))
        num_changes = self.stand_ins.keep_up()
        if kept.num_known < num_changes:
            is_new = kept.num_known < 0
            places = range(len(self._held)) if is_new else self.stand_ins.changed_since(kept.num_known)
            self._match(kept, pod, request, places)
            kept.num_known = num_changes
            kept.sight = self._sight(kept, request)
        return kept.sight

    def _match(self, kept: _Kept, pod: PlacementClass, request: ReservationRequest, places: Iterable[int]) -> None:
        selected = self._table.masks.selected(pod.spec.node_selector, pod.spec.affinity)
        for place in places:
            held = self._held[place]
            is_looked_at = held.is_available and selected[held.node]
            node = self._table.nodes[held.node]
            found = match(pod.pod, request, held.reservation, node) if is_looked_at else None
            kept.by_place[place] = found
            kept.restored.pop(held, None)
            if found is not None and found.gives_room:
                kept.restored[held] = self.stand_ins.restored(place)

    def _sight(self, kept: _Kept, request: ReservationRequest) -> Sight:
        matches = [(held, found) for held, found in zip(self._held, kept.by_place, strict=True) if found is not None]
        usable: dict[int, list[HeldReservation]] = {}
        for held, found in matches:
            if found.gives_room:
                usable.setdefault(held.node, []).append(held)
        if not usable:
            return Sight(matches, usable, self.stand_ins.all, {}, {})
        beside = zip(self.stand_ins.by_place, kept.by_place, strict=True)
        seen = [stand_in for stand_in, found in beside if stand_in is not None and not (found and found.gives_room)]
        return Sight(matches, usable, tuple(seen), dict(kept.restored), _matched(request, usable, kept.restored))


def _matched(
    request: ReservationRequest,
    usable: Mapping[int, Sequence[HeldReservation]],
    restored: Mapping[HeldReservation, MatchedReservation],
) -> dict[int, MatchedReservations]:
    """The usable Reservations by node. A pod that ignores Reservations prefers none of them."""
    if request.is_ignoring:
        return {}
    is_required = request.affinity is not None
    return {
        node: MatchedReservations(tuple([restored[each] for each in held]), is_required)
        for node, held in usable.items()
    }


def _stand_in(held: HeldReservation) -> SeenPod | None:
    return SeenPod(held.stand_in(), held.node) if held.is_active else None
