"""Room that is held for replacements before it is their turn: their victims still run, and leave later."""

from __future__ import annotations

from typing import Any

import msgspec

from descheduler.model.pod import Pod
from descheduler.placement.framework.attempt import put_on_node
from descheduler.placement.landings.unplaced import UnplacedReplacement
from descheduler.placement.shadow.shadow_cluster import Cycle, Placed, ShadowCluster

__all__ = ["EarlyRooms"]


class _EarlyRoom(msgspec.Struct, eq=False):
    """What `placed` takes on the node of this index is held for the replacement of `victim`, which still runs."""

    victim: Pod
    node: int
    placed: Placed | None = None


class EarlyRooms:
    """One room at most for the replacement of each victim.

    A ledger of its own, so that a what-if that takes room back, or holds it, is followed here.
    """

    def __init__(self, cluster: ShadowCluster) -> None:
        self._cluster = cluster
        self._rooms: dict[int, _EarlyRoom] = {}
        self._victim: Pod
        """For whom `hold` holds room; `reserve` is not told."""

    def hold(self, unplaced: UnplacedReplacement, node_name: str) -> None:
        """Holds room for a replacement on this node, if the node takes it as the cluster is now.

        A victim has one room: the first one stays.
        """
        if id(unplaced.victim) in self._rooms:
            return
        node, evaluation = self._cluster.table.index.get(node_name), unplaced.evaluate()
        if node is None or evaluation.undecided or not evaluation.feasible[node]:
            return
        self._victim = unplaced.victim
        placed = put_on_node(evaluation, node, ledgers=(self,)).placed
        self._rooms[id(unplaced.victim)].placed = placed

    def give_up(self, victim: Pod) -> None:
        """Gives back what is held for the replacement of `victim`, if anything: it is placed itself now."""
        room = self._rooms.get(id(victim))
        if room is not None and room.placed is not None:
            self._cluster.take_off(room.placed)

    def reserve(self, cycle: Cycle, node: int) -> _EarlyRoom:
        """Notes that room is held for the victim that was named last."""
        del cycle
        room = _EarlyRoom(self._victim, node)
        self.restore(room)
        return room

    def release(self, taken: _EarlyRoom) -> None:
        """It is not held any more."""
        del self._rooms[id(taken.victim)]

    def restore(self, taken: _EarlyRoom) -> None:
        """It is held again."""
        self._rooms[id(taken.victim)] = taken

    def fingerprint(self) -> Any:
        """For whom room is held where."""
        return sorted((room.victim.key, room.victim.uid, room.node) for room in self._rooms.values())
