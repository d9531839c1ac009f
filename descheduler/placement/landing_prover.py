"""The book of a run's moves, and the proof that their replacements land."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.attempts import place
from descheduler.placement.joint import JointProof
from descheduler.placement.landing import JointVerdict, Landing, LandingVerdict
from descheduler.placement.members import Candidate, CandidateMaker, Member, evicted_before
from descheduler.placement.outcomes import landed, not_landed, split, verdict_of
from descheduler.placement.pending import PendingPods
from descheduler.placement.placement_forms import PlacementForms
from descheduler.placement.preemption import preemption_hint
from descheduler.placement.registry import PLUGINS, SchedulingPlugin
from descheduler.placement.rivals import RivalFinder
from descheduler.placement.schedulers import Schedulers
from descheduler.placement.scheduling import Evaluation
from descheduler.placement.shadow_cluster import NO_NODE, ShadowCluster, WhatIf
from descheduler.policy.scheduler_configuration import SchedulerConfiguration, default_configuration

__all__ = ["LandingProver"]


class LandingProver:
    """One run's book of moves over `snapshot`, in which every answer counts with what was booked before.

    The scheduler is the one that `configuration` describes, by default kube-scheduler of `version` as it comes. What
    was booked before a victim has settled by the time of its eviction: earlier victims are gone, and their
    replacements are where they were predicted. Pending pods of the snapshot that fit are placed before the first move.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        *,
        configuration: SchedulerConfiguration | None = None,
        version: KubeVersion | None = None,
        plugins: Mapping[str, SchedulingPlugin] = PLUGINS,
    ) -> None:
        version = version or KubeVersion()
        self._cluster = ShadowCluster(snapshot, version=version)
        schedulers = Schedulers(self._cluster, configuration or default_configuration(version), plugins=plugins)
        forms = PlacementForms(snapshot)
        self._candidates = CandidateMaker(snapshot, self._cluster, schedulers, forms)
        self._pending = self._cluster.ledger(lambda cluster: PendingPods(cluster, schedulers, forms))
        self._rivals = RivalFinder(self._cluster, self._pending)
        self._pending.place_all()
        self._bookings = self._cluster.what_if()
        self._booked: dict[int, Pod] = {}
        self._homeless: list[Pod] = []
        self._gone: Counter[str] = Counter()
        self._last: _Considered | None = None
        """What was asked about since the last booking; it is booked without asking again."""

    @property
    def cluster(self) -> ShadowCluster:
        """The cluster with everything that is booked. Whoever changes it has to roll it back."""
        self._leave()
        return self._cluster

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the answers leave out, each a sentence."""
        found = []
        num_ghosts = sum(node == NO_NODE for _, node in self._cluster.placed_pods)
        if num_ghosts:
            found.append(f"counted for the claims in use only: {_pods(num_ghosts)} on nodes that were not read")
        if self._pending.num_foreign:
            found.append(f"left out: {_pods(self._pending.num_foreign)} pending for schedulers that are not known")
        return tuple(found)

    def consider(self, victim: Pod) -> Landing:
        """Where the replacement of `victim` would land on top of everything booked. Leaves no trace.

        `LANDS`: some node takes it once the victim is gone, and the scheduler takes one of `ties`. `LANDS_IF`: that
        hangs on the conditions; among them that no pending pod of the same or a higher priority takes the room.
        `NO`: no node takes it with all booked replacements where they were predicted. `UNKNOWN`: the snapshot cannot
        tell. `cold` is the same question while the victim is terminating.
        """
        self._leave()
        trial = self._cluster.what_if()
        candidate = self._candidate(victim)
        decision = self._decide(candidate)
        self._last = _Considered(victim, candidate, decision, trial)
        return decision.landing

    def book(self, victim: Pod) -> Landing:
        """The same, for good: the victim is gone and its replacement, where it lands, takes room.

        A replacement that does not land waits among the pending pods from now on.
        """
        last = self._last
        if last is not None and last.victim is victim:
            self._last = None
            candidate, decision = last.candidate, last.decision
        else:
            self._leave()
            candidate = self._candidate(victim)
            decision = self._decide(candidate)
        if candidate.is_moved:
            self._booked[id(victim)] = victim
            if victim.controller is not None:
                self._gone[victim.controller.uid] += 1
        if decision.homeless is not None:
            self._pending.add(decision.homeless)
            self._homeless.append(decision.homeless)
        return decision.landing

    def preemption_hint(self, victim: Pod) -> str:
        """Where the replacement of `victim`, which does not land, would land by preempting others; empty if nowhere.

        It has to be told, as it hurts others, and is never a landing.
        """
        self._leave()
        member = self._candidate(victim).member
        if member is None:
            return ""
        with self._cluster.what_if():
            self._cluster.remove(victim)
            return preemption_hint(member, self._cluster, {*self._booked, id(victim)})

    def prove(self, victims: Sequence[Pod]) -> JointVerdict:
        """Whether the replacements of `victims`, and of no others, land when all are evicted at once; see JointProof.

        The book is neither asked nor changed.
        """
        booked = self._booked
        self._forget()
        try:
            proof = JointProof(self._cluster, self._candidates, self._pending)
            return proof.verdict(list(dict.fromkeys(victims)))
        finally:
            self._bookings.take_back()
            for victim in booked.values():
                self.book(victim)

    def _leave(self) -> None:
        """Takes back what was last asked about, as it was not booked."""
        if self._last is not None:
            self._last.trial.take_back()
            self._last = None

    def _forget(self) -> None:
        self._leave()
        self._bookings.take_back()
        self._pending.withdraw(self._homeless)
        self._booked, self._homeless, self._gone = {}, [], Counter()

    def _candidate(self, victim: Pod) -> Candidate:
        if id(victim) in self._booked:
            return evicted_before(victim)
        return self._candidates.candidate(victim, self._gone)

    def _decide(self, candidate: Candidate) -> _Decision:
        """The landing of one victim. The cluster is left as it is once that has happened.

        A victim whose landing is unknown stays where it is, in the place of a replacement that takes room somewhere.
        """
        with self._cluster.what_if() as trial:
            decision = self._settle(candidate, trial)
            if decision.landing.settled is not LandingVerdict.UNKNOWN:
                trial.keep()
            return decision

    def _settle(self, candidate: Candidate, trial: WhatIf) -> _Decision:
        if candidate.leaves:
            self._cluster.remove(candidate.victim)
        if candidate.member is None:
            assert candidate.landing is not None  # noqa: S101 - it is one or the other
            return _Decision(candidate.landing)
        member = candidate.member
        num_placed = len(self._pending.placed)
        self._pending.place_after(member.victim, member.priority)
        other = None if member.alternative is None else member.alternative.scheduler.evaluate(member.alternative.pod)
        attempt = place(member.scheduler, member.pod)
        placement = attempt.placement
        if len(self._pending.placed) == num_placed and _fits_elsewhere(member, attempt.evaluation):
            cold = LandingVerdict.LANDS if member.returns_at_once else None
        else:
            cold = self._cold(member, trial)
        if other is not None and other.fits is (placement is None):
            return _Decision(split(member, attempt, other, cold=cold))
        if placement is not None:
            return _Decision(landed(member, placement, self._cluster, cold=cold))
        rivalry = self._rivals.rivalry(member, attempt.evaluation)
        if rivalry is None:
            landing = not_landed(member, attempt.evaluation, cold=cold)
            return _Decision(landing, member.pod if landing.settled is LandingVerdict.NO else None)
        conditions = (rivalry.condition,)
        landing = landed(member, rivalry.placement, self._cluster, cold=cold, conditions=conditions)
        return _Decision(landing, member.pod)

    def _cold(self, member: Member, trial: WhatIf) -> LandingVerdict | None:
        """What is said while the victim is terminating; None for a replacement that comes only when it is gone.

        For that question alone the changes of `trial` are taken back.
        """
        if not member.returns_at_once:
            return None
        changes = trial.changes
        trial.take_back()
        with self._cluster.what_if():
            self._cluster.terminate(member.victim)
            verdict = verdict_of(member.scheduler.evaluate(member.pod))
        self._cluster.repeat(changes)
        return verdict


class _Decision(NamedTuple):
    """A landing, and the pod that is left without a node by it."""

    landing: Landing
    homeless: Pod | None = None


class _Considered(NamedTuple):
    """A victim that was asked about. What its eviction changes stays until something else is asked, as it is mostly
    booked."""

    victim: Pod
    candidate: Candidate
    decision: _Decision
    trial: WhatIf


def _fits_elsewhere(member: Member, evaluation: Evaluation) -> bool:
    """Whether a node takes the replacement, by `evaluation`, for which it does not matter that the victim is gone."""
    interplay = member.scheduler.interplay
    if not interplay.is_local(member.pod) or interplay.is_felt_widely(member.victim):
        return False
    source = member.scheduler.cluster.table.index.get(member.victim.node_name)
    takes_it = source is not None and bool(evaluation.feasible[source])
    return int(np.count_nonzero(evaluation.feasible)) > takes_it


def _pods(number: int) -> str:
    return "1 pod" if number == 1 else f"{number} pods"
