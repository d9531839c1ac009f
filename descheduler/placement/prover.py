"""The book of a run's moves, and the proof that their replacements land."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial

from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.held_room import NOTHING_HELD, HeldRoom, HeldRooms
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.placement.batches.ends import EndSearch, NamedEnd
from descheduler.placement.batches.joint_proof import JointProof
from descheduler.placement.configuration.kube_scheduler.configuration import (
    SchedulerConfiguration,
    default_configuration,
)
from descheduler.placement.framework.scheduling_plugin import (
    Preference,
    SchedulingPlugin,
    parts_of,
    renewal_by,
    shadow_cluster_of,
)
from descheduler.placement.landings.candidates import (
    Booking,
    CandidateMaker,
    Considered,
    Decision,
    LandingCandidate,
    evicted_before,
)
from descheduler.placement.landings.deciding import Decider
from descheduler.placement.landings.landing import JointVerdict, Landing, LandingVerdict
from descheduler.placement.landings.open_choices import FreePod
from descheduler.placement.landings.openings import Openings
from descheduler.placement.landings.pending_pods import PendingPods
from descheduler.placement.landings.preemption import preemption_hint
from descheduler.placement.landings.verdicts import not_looked_for
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.schedulers.row import SchedulerRow
from descheduler.placement.schedulers.schedulers import Schedulers
from descheduler.placement.schedulers.table import SCHEDULERS
from descheduler.placement.shadow.follower import Changes
from descheduler.placement.shadow.placement_class import PlacementForms
from descheduler.placement.shadow.shadow_cluster import NO_NODE, ShadowCluster

_MOST_HINTS = 20
"""So many replacements without a node are asked about preemption."""


class LandingProver:
    """One run's book of moves over `snapshot`, in which every answer counts with what was booked before.

    The scheduler is the one that `configuration` describes, by default kube-scheduler of `version` as it comes;
    `schedulers` is the table of those that are modelled. What was booked before a victim has settled by the time of its
    eviction: earlier victims are gone, and their replacements are where they were predicted. Pending pods of the
    snapshot that fit are placed before the first move, those first that have one of `rooms`: there, if they fit there.

    The victim of a likely replacement stays in the book in its place, so that no other landing counts on the room of
    either; with `books_likely`, for an estimate, it leaves, and its replacement is where it is predicted. `now` is the
    time of the snapshot where that does not tell it: deadlines of Jobs go by it.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        *,
        configuration: SchedulerConfiguration | None = None,
        version: KubeVersion | None = None,
        plugins: Mapping[str, SchedulingPlugin] = PLUGINS,
        schedulers: Mapping[str, SchedulerRow] = SCHEDULERS,
        books_likely: bool = False,
        rooms: Sequence[HeldRoom] = (),
        now: datetime | None = None,
    ) -> None:
        version = version or KubeVersion()
        self._plugins = plugins
        self._cluster = shadow_cluster_of(snapshot, plugins, version, schedulers.values())
        configuration = configuration or default_configuration(version, plugins)
        self._schedulers = Schedulers(self._cluster, configuration, plugins=plugins, rows=schedulers)
        forms = PlacementForms(snapshot)
        self._candidates = CandidateMaker(
            snapshot, self._cluster, self._schedulers, forms, now, renewal_by(plugins.values())
        )
        self._pending = self._cluster.ledger(lambda cluster: PendingPods(cluster, self._schedulers, forms))
        unknown, likely = LandingVerdict.UNKNOWN, LandingVerdict.LIKELY
        unbooked = (unknown,) if books_likely else (unknown, likely)
        self._decider = Decider(
            self._cluster, self._pending, lambda pod: self._candidate(pod).unplaced, unbooked, self._placed_openly
        )
        for room in rooms:
            self._pending.place_on(room.pod, room.node)
        self._pending.place_all()
        self._bookings: list[Booking] = []
        self._num_open = 0
        self._booked: dict[int, Pod] = {}
        self._gone: dict[str, list[Pod]] = {}
        self._asked_preemption: set[int] = set()
        self._ends = EndSearch(self._cluster)
        self._last: Considered | None = None
        """What was asked about since the last booking; it is booked without asking again."""

    @property
    def cluster(self) -> ShadowCluster:
        """The cluster with everything that is booked. Whoever changes it has to roll it back."""
        self._leave()
        return self._cluster

    def openings(self) -> Openings:
        """What a planner asks of the cluster with everything that is booked; valid until the next booking."""
        return Openings(self.cluster, self._candidates, partial(parts_of, self._plugins.values()))

    def ends_owner(self, victim: Pod) -> bool:
        """Whether the owner of `victim`, or its part that the pod is, fails or ends with an eviction of it alone."""
        return self._candidates.ends_owner(victim)

    def preference(self, pods: Iterable[Pod] | None = None) -> Preference:
        """Which nodes the scheduler prefers that places most of `pods`, or of all that the snapshot has."""
        return self._schedulers.preference(self._cluster.snapshot.pods if pods is None else pods)

    @property
    def assumed(self) -> tuple[str, ...]:
        """What is taken for granted of schedulers, each a sentence."""
        return self._schedulers.assumed()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the answers leave out, each a sentence."""
        found = [*self.assumed]
        num_ghosts = sum(node == NO_NODE for _, node in self._cluster.placed_pods)
        if num_ghosts:
            are, their = ("is", "its") if num_ghosts == 1 else ("are", "their")
            who = counted(num_ghosts, "pod")
            found.append(f"{who} {are} on nodes that are not in the snapshot; only {their} claims are counted")
        found += [
            f"it is unknown whether {counted(number, 'pending pod')} {'is' if number == 1 else 'are'} scheduled before"
            f" replacement pods: {cause}"
            for cause, number in self._pending.left_out.items()
        ]
        return tuple(found)

    @contextmanager
    def settled(self) -> Iterator[ShadowCluster]:
        """The cluster once everything booked has settled, and pending pods have the nodes that take them, for as long
        as the context is open. Leaves no trace."""
        with self.cluster.what_if():
            self._pending.place_all()
            yield self._cluster

    def still_pending(self) -> tuple[Pod, ...]:
        """The pending pods of the snapshot that no node takes once everything booked has settled. Leaves no trace.

        The pods of which that is unknown are not among them; see `pending_doubt`.
        """
        with self.settled():
            waiting = self._pending.waiting()
        known = set(map(id, self._cluster.snapshot.pods))
        return tuple(pod for pod in waiting if id(pod) in known)

    def pending_nodes(self) -> Iterator[tuple[Pod, str]]:
        """The pending pods of the snapshot that some node takes once everything booked has settled, and that node.

        Leaves no trace.
        """
        with self.settled():
            placed = [(each.pod, self._cluster.table.names[each.node]) for each in self._pending.placed]
        known = set(map(id, self._cluster.snapshot.pods))
        return ((pod, node) for pod, node in placed if id(pod) in known)

    def pending_doubt(self, pod: Pod) -> str:
        """Why it is unknown whether a pending pod of the snapshot finds a node; empty where that is known."""
        return self._pending.doubt(pod)

    def scheduled(self) -> Iterator[tuple[Pod, Pod]]:
        """The pending pods of the snapshot that have a node by now, each with what it is there: bound, and with the
        annotations by which its scheduler notes what it gets."""
        self._leave()
        known = set(map(id, self._cluster.snapshot.pods))
        for each in self._pending.placed:
            if id(each.pod) in known:
                patch = {} if each.placed is None else each.placed.patch
                annotations = {**each.pod.annotations, **patch}
                node = self._cluster.table.names[each.node]
                yield each.pod, replace(each.pod, node_name=node, annotations=annotations)

    @property
    def undecided(self) -> Mapping[str, int]:
        """How many pending pods cannot be told about, by what their scheduler checks that is not modelled."""
        return self._pending.left_out

    def consider(
        self,
        victim: Pod,
        *,
        only_proven: bool = False,
        mates: Sequence[Pod] = (),
        held: HeldRooms = NOTHING_HELD,
    ) -> Landing:
        """Where the replacement of `victim` would land on top of everything booked.

        What the question changes stays until the next one.

        `LANDS`: some node takes it once the victim is gone, and the scheduler takes one of `ties`. `LANDS_IF`: that
        hangs on the conditions; among them that no pending pod which may be tried first takes the room. `LIKELY`: the
        same as far as the scheduler is modelled. `NO`: no node takes it with all booked replacements where they were
        predicted, and pending pods of a higher priority where they only have that room. `UNKNOWN`: the snapshot cannot
        tell. `cold` is the same question while the victim is terminating.

        With `only_proven` no node is looked at for a pod that could be likely at best: it is `UNKNOWN`, which takes a
        millisecond less for those to whom both are the same. `mates` are the pods of a bundle, which leave with the
        victim or not at all: a scheduler that places some of their replacements together may count on them.

        Room is `held` on a node for the replacement before the victim leaves, by a Reservation: it lands there, before
        pending pods, if the node takes it while the victim is still on its own, else nowhere. Only then the rooms for
        others count: Reservations for other pods, which wait for the victim to leave, and get room before pods of the
        same priority. A pending pod is placed in its room, and the replacement lands nowhere if that cannot be. For the
        replacement of a pod that is to leave later, room is held until that is asked about; nothing is held if there is
        none.
        """
        trial = self.cluster.what_if()
        candidate = self._candidate(victim, mates, held)
        if only_proven and candidate.unplaced is not None and candidate.unplaced.doubt:
            return not_looked_for(candidate.unplaced)
        decision = self._decided(candidate)
        self._last = Considered(victim, held, candidate, decision, trial)
        return decision.landing

    def ends(self, victim: Pod) -> Iterator[NamedEnd]:
        """Where the replacement of `victim` may be once it and everything booked has settled, the prediction first."""
        if self._last is None or not self._last.is_about(victim, NOTHING_HELD):
            self.consider(victim)
        assert self._last is not None  # noqa: S101 - it was asked about
        decision = self._last.decision
        unplaced = self._last.candidate.unplaced if decision.homeless is None else None
        return self._ends.by_name(decision.landing, unplaced, self._pending, self._placed)

    def book(self, victim: Pod, *, mates: Sequence[Pod] = (), held: HeldRooms = NOTHING_HELD) -> Landing:
        """The landing as `consider` has it, for good: the victim is gone and its replacement, if it lands, takes room.

        A replacement that does not land waits among the pending pods from now on.
        """
        last = self._last
        if last is not None and last.is_about(victim, held):
            self._last = None
            candidate, decision, changes = last.candidate, last.decision, last.changes
        else:
            changes = self.cluster.what_if()
            candidate = self._candidate(victim, mates, held)
            decision = self._decided(candidate)
        if candidate.is_moved:
            self._count(victim)
        if decision.homeless is not None:
            self._pending.add(decision.homeless)
        node, ties = decision.landing.node, decision.landing.ties
        is_open = len(ties) > 1 and candidate.is_placed_openly
        self._num_open += is_open
        self._bookings.append(Booking(candidate, changes, decision.homeless, node, ties, is_open))
        return decision.landing

    def take_back(self) -> None:
        """Takes the last booking back, with all that it changed."""
        self._leave()
        booking = self._bookings.pop()
        self._num_open -= booking.is_open
        booking.changes.take_back()
        if booking.homeless is not None:
            self._pending.withdraw([booking.homeless])
        if booking.candidate.is_moved:
            self._discount(booking.candidate.victim)

    def _decided(self, candidate: LandingCandidate) -> Decision:
        """The decision, with whom the scheduler would preempt for a replacement without a node; of the first of these
        only, as it takes time, and as few are shown."""
        decision = self._decider.decide(candidate)
        landing, unplaced, victim = decision.landing, candidate.unplaced, id(candidate.victim)
        if landing.verdict is not LandingVerdict.NO or unplaced is None or unplaced.held_on:
            return decision
        if victim not in self._asked_preemption and len(self._asked_preemption) >= _MOST_HINTS:
            return decision
        self._asked_preemption.add(victim)
        preemption = preemption_hint(unplaced, self._cluster, {*self._booked, victim})
        if not preemption:
            return decision
        message = f"{landing.message}; {preemption}"
        return replace(decision, landing=replace(landing, message=message, preemption=preemption))

    def preemption_hint(self, victim: Pod) -> str:
        """Where the replacement of `victim`, which does not land, would land by preempting others; empty if nowhere.

        It has to be told, as it hurts others, and is never a landing.
        """
        self._leave()
        unplaced = self._candidate(victim).unplaced
        if unplaced is None:
            return ""
        with self._cluster.what_if():
            self._cluster.remove(victim)
            return preemption_hint(unplaced, self._cluster, {*self._booked, id(victim)})

    def prove(self, victims: Sequence[Pod]) -> JointVerdict:
        """Whether the replacements of `victims`, and of no others, land when all are evicted at once; see JointProof.

        The book is neither asked nor changed.
        """
        with self.as_of(0):
            return self.prove_further(victims)

    def prove_further(self, victims: Sequence[Pod], *, are_mates: bool = False) -> JointVerdict:
        """The same on top of everything booked, where none of `victims` is booked. Leaves no trace.

        With `are_mates` they are one bundle, which leaves whole or not at all.
        """
        proof = partial(JointProof, self.cluster, self._candidates, self._pending, gone=self._gone)
        judged = proof(are_mates=True) if are_mates else proof(settled=self._placed())
        return judged.verdict(list(dict.fromkeys(victims)))

    def unproven(self, victims: Sequence[Pod], asked: Sequence[Pod], **options: bool) -> tuple[Pod, ...]:
        """The pods of `asked`, a part of `victims`, whose replacements are not proven to land in every order.

        All victims are evicted at once, on top of everything booked. The options are those of JointProof. Leaves no
        trace.
        """
        proof = JointProof(self.cluster, self._candidates, self._pending, gone=self._gone, settled=self._placed())
        return proof.unproven(list(dict.fromkeys(victims)), asked, **options)

    @contextmanager
    def as_of(self, number: int) -> Iterator[None]:
        """A context in which only the first `number` bookings are there."""
        self._leave()
        later = []
        while len(self._bookings) > number:
            later.append((self._bookings[-1], self._bookings[-1].changes.changes))
            self.take_back()
        try:
            yield
        finally:
            self._leave()
            for booking, changes in reversed(later):
                self._repeat(booking, changes)

    def _repeat(self, booking: Booking, changes: Changes) -> None:
        """Books again what was taken back, from the same state as the first time."""
        self._cluster.repeat(changes)
        if booking.candidate.is_moved:
            self._count(booking.candidate.victim)
        if booking.homeless is not None:
            self._pending.add(booking.homeless)
        self._bookings.append(booking)
        self._num_open += booking.is_open

    def _leave(self) -> None:
        """Takes back what was last asked about, as it was not booked."""
        if self._last is not None:
            self._last.changes.take_back()
            self._last = None

    def _placed_openly(self) -> Sequence[FreePod] | None:
        """The same as `_placed`; None where the nodes of all of them, and of all pending pods, are known."""
        return self._placed() if self._num_open or self._pending.num_open else None

    def _placed(self) -> Sequence[FreePod]:
        """The booked replacements that have a node which their scheduler chose."""
        index = self._cluster.table.index
        found = ((each.candidate.unplaced, each.node, each.ties) for each in self._bookings if each.homeless is None)
        return [
            FreePod(
                unplaced.pod, index[node], unplaced.scheduler, unplaced.victim, ties=tuple(map(index.__getitem__, ties))
            )
            for unplaced, node, ties in found
            if unplaced is not None and node is not None and not unplaced.doubt and not unplaced.held_on
        ]

    def _count(self, victim: Pod) -> None:
        self._booked[id(victim)] = victim
        if victim.controller is not None:
            self._gone.setdefault(victim.controller.uid, []).append(victim)

    def _discount(self, victim: Pod) -> None:
        del self._booked[id(victim)]
        if victim.controller is not None:
            self._gone[victim.controller.uid].remove(victim)

    def _candidate(self, victim: Pod, mates: Sequence[Pod] = (), held: HeldRooms = NOTHING_HELD) -> LandingCandidate:
        if id(victim) in self._booked:
            return evicted_before(victim)
        candidate = self._candidates.candidate(victim, self._gone, mates)
        unplaced = candidate.unplaced
        if unplaced is not None and held.on:
            return replace(candidate, unplaced=replace(unplaced, held_on=held.on), rooms=held.rooms)
        if unplaced is None or not unplaced.unit or not mates:
            return candidate
        others = (self._candidates.candidate(mate, self._gone).unplaced for mate in mates)
        unit = tuple(other.pod for other in others if other is not None and other.unit_id == unplaced.unit_id)
        return replace(candidate, unplaced=replace(unplaced, unit=unit))
