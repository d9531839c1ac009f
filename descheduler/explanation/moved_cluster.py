"""The cluster after the moves of a run, and what a further eviction would lead to there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.model.held_room import NOTHING_HELD, HeldRooms
from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import Landing
from descheduler.placement.landings.openings import EarlyRooms
from descheduler.placement.prover import LandingProver
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.plan.moves import Move, PodIdentity, identity_of


class MovedCluster:
    """`snapshot` after the evictions of `moves`, one after the other, and the landings of their replacements.

    `books_likely` is as in LandingProver: set for moves of a run that does not verify where replacements land.
    `held` are the moves for which room is held, by the pod that leaves.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        settings: SchedulingSettings,
        moves: Iterable[Pod] = (),
        *,
        now: datetime,
        books_likely: bool = False,
        held: Mapping[PodIdentity, Move] | None = None,
    ) -> None:
        self.configuration = settings.resolved()
        self._prover = LandingProver(
            snapshot, configuration=self.configuration, version=settings.version, books_likely=books_likely, now=now
        )
        self._moved = set[int]()
        self._held = held or {}
        self.book_all(moves)

    @property
    def cluster(self) -> ShadowCluster:
        """The columns of this cluster."""
        return self._prover.cluster

    @property
    def warnings(self) -> tuple[str, ...]:
        """What landings leave out of account, each a sentence."""
        return self._prover.warnings

    def landing_of(self, victim: Pod) -> Landing:
        """Where the replacement of `victim` would land."""
        return self._prover.consider(victim, held=self._held_for(victim))

    def book_all(self, moves: Iterable[Pod]) -> list[Landing]:
        """Makes further moves; returns the landings of their replacements."""
        landings = []
        for pod in moves:
            landings.append(self._prover.book(pod, held=self._held_for(pod)))
            self._moved.add(id(pod))
        return landings

    def pending_on(self, node: str) -> list[Pod]:
        """The pending pods that would be scheduled onto `node` once the moves are made."""
        return [pod for pod, name in self._prover.pending_nodes() if name == node]

    def _held_for(self, victim: Pod) -> HeldRooms:
        """What is held when `victim` leaves."""
        move = self._held.get(identity_of(victim))
        return NOTHING_HELD if move is None else move.held

    @contextmanager
    def settled(self) -> Iterator[ShadowCluster]:
        """The cluster with the pending pods that get a node after the moves, for as long as the context is open."""
        with self._prover.settled() as cluster:
            yield cluster

    @contextmanager
    def without(self, victim: Pod) -> Iterator[ShadowCluster]:
        """The cluster with `victim` gone, for as long as the context is open.

        Room that is held for its replacement is free there, as it is for that very pod.
        """
        with self.cluster.what_if():
            self.cluster.ledger(EarlyRooms).give_up(victim)
            if victim.node_name and not victim.is_terminal and id(victim) not in self._moved:
                self.cluster.remove(victim)
            yield self.cluster
