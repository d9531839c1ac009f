"""Victims with all that is known of their replacements before any node is looked at, and what is decided of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec
import numpy as np

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.annotations import KAI_ANNOTATIONS, KUEUE_ANNOTATIONS
from descheduler.model.held_room import HeldRoom, HeldRooms
from descheduler.model.koordinator.scheduler_name import scheduler_name_of
from descheduler.model.pod import Pod
from descheduler.model.shard import Shard
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.scheduler_model import SchedulerModel, priority_of
from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.placement.landings.unplaced import UnplacedReplacement
from descheduler.placement.replacements.answer import Returns, not_created
from descheduler.placement.replacements.replacement import Replacement, ReplacementMaker
from descheduler.placement.schedulers.schedulers import Schedulers
from descheduler.placement.shadow.follower import WhatIf
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.placement_class import PlacementClass, PlacementForms
from descheduler.placement.shadow.shadow_cluster import Company, ShadowCluster

_KUEUE = "Kueue places the pod by topology (topology-aware scheduling), which is not modelled"
_KAI = "the KAI scheduler places the pod, which is not modelled"
_WAY_OUT = (
    "to leave such pods out, use labelSelector of DefaultEvictor; to evict them all the same, set onUnknown: allow of"
    " PlacementVerification"
)
_KAI_SCHEDULER = "kai-scheduler"
_GATE = f"{KUEUE_ANNOTATIONS}topology"
_LABEL = f"{KUEUE_ANNOTATIONS}tas"
_PODSET, _TOPOLOGY = f"{KUEUE_ANNOTATIONS}podset-", "-topology"


class LandingCandidate(msgspec.Struct, frozen=True, eq=False):
    """A victim: with a `landing` that is clear without looking at nodes, or else an `unplaced` that looks for one.

    `leaves` says whether the cluster is without the victim once it is evicted. It is not where the victim comes back
    to its node, or stands in for a replacement whose node is unknown. `is_moved` says whether
    there is an eviction at all. `rooms` are held for other pods where it leaves, if room is held for `unplaced` itself.
    """

    victim: Pod
    leaves: bool
    is_moved: bool
    landing: Landing | None = None
    unplaced: UnplacedReplacement | None = None
    rooms: tuple[HeldRoom, ...] = ()

    @property
    def is_placed_openly(self) -> bool:
        """Whether the choice of its scheduler among several nodes is unknown."""
        unplaced = self.unplaced
        return unplaced is not None and not unplaced.held_on and unplaced.scheduler.leaves_open(unplaced.pod)


class CandidateMaker:
    """Makes candidates for one cluster. `renew` makes a pod that is created anew of a copy of one that was bound."""

    def __init__(
        self,
        snapshot: Snapshot,
        cluster: ShadowCluster,
        schedulers: Schedulers,
        forms: PlacementForms,
        now: datetime | None = None,
        renew: Callable[[Pod], Pod] = lambda pod: pod,
    ) -> None:
        self._maker = ReplacementMaker(snapshot, now, renew)
        self._cluster = cluster
        self._schedulers = schedulers
        self._forms = forms
        self._alike: dict[PlacementClass, _Alike] = {}
        self._in_turn: dict[int, _InTurn] = {}
        """By the identity of the victim, which is kept with the value."""
        self._within = _nodes_of(snapshot.shard, cluster)

    def ends_owner(self, victim: Pod) -> bool:
        """Whether the owner of `victim`, or its part that the pod is, fails or ends with an eviction of it alone."""
        owners = self._maker.owners
        return owners.may_end(victim) and owners.answer(victim).returns is Returns.OWNER_ENDS

    def candidate(self, victim: Pod, gone: Mapping[str, Sequence[Pod]], mates: Sequence[Pod] = ()) -> LandingCandidate:
        """The candidate for `victim`, where `gone` has by controller UID the pods evicted before it.

        `mates` leave with it as one bundle, all or none.
        """
        owner = victim.controller
        before = () if owner is None else gone.get(owner.uid, ())
        replacement = self._maker.replacement_of(victim, gone=before, mates=mates)
        is_moved = not replacement.unmovable
        if replacement.unmovable or replacement.answer.loss:
            message = replacement.answer.loss or replacement.unmovable
            return _settled(replacement, LandingVerdict.NO, message, leaves=is_moved, is_moved=is_moved)
        if replacement.pod is None:
            return _settled(replacement, LandingVerdict.LANDS, leaves=not victim.is_terminal)
        if replacement.barred:
            return _settled(replacement, LandingVerdict.NO, replacement.barred)
        placer = self._other_placer(victim) or self._other_placer(replacement.pod)
        if placer:
            unknown, message = LandingVerdict.UNKNOWN, f"{placer}; {_WAY_OUT}"
            return _settled(replacement, unknown, message, leaves=False, cause=placer)
        alternative = replacement.alternative
        other = None if alternative is None else self._unplaced(victim, replacement, alternative)
        unplaced = self._unplaced(victim, replacement, replacement.pod, other)
        return LandingCandidate(victim, leaves=True, is_moved=True, unplaced=unplaced)

    def in_turn(
        self, victims: Sequence[Pod], gone: Mapping[str, Sequence[Pod]], *, are_mates: bool = False
    ) -> list[LandingCandidate]:
        """The candidates for `victims`, which leave one after the other; with `are_mates` as one bundle, all or none.

        That of a victim is remembered: it is the same wherever the same pods of its owner have left before.
        """
        left = {uid: list(pods) for uid, pods in gone.items()}
        found = []
        for victim in victims:
            before = [] if victim.controller is None else left.setdefault(victim.controller.uid, [])
            known = None if are_mates else self._in_turn.get(id(victim))
            if known is not None and known.holds_after(before):
                candidate = known.candidate
            else:
                candidate = self.candidate(victim, left, victims if are_mates else ())
                if not are_mates:
                    self._in_turn[id(victim)] = _InTurn(candidate, before, len(before))
            found.append(candidate)
            if candidate.is_moved:
                before.append(victim)
        return found

    def _other_placer(self, pod: Pod) -> str:
        return _other_placer(pod, is_foreign=self._schedulers.is_foreign(pod))

    def evaluation_of_pending(
        self, pod: Pod, others: Sequence[Pod] = ()
    ) -> tuple[SchedulerModel, PodEvaluation | None]:
        """The scheduler of a pending pod, and what it says of the pod with those of the pending `others` that are
        placed together with it.

        None where the scheduler checks what is not modelled.
        """
        form = self._forms.form_of(pod)
        scheduler = self._schedulers.scheduler_of(form)
        if self._schedulers.doubt(form):
            return scheduler, None
        unit = scheduler.unit_of(form)
        if not unit:
            return scheduler, scheduler.evaluate_binding(form)
        forms = [self._forms.form_of(other) for other in others if other is not pod]
        mates = (other for other in forms if scheduler.unit_of(other) == unit)
        return scheduler, scheduler.evaluate_binding(form, Company((form, *mates)))

    def unit_of_pending(self, pod: Pod) -> str:
        """What a pending pod shares with those without which its scheduler does not place it; empty without any."""
        form = self._forms.form_of(pod)
        scheduler = self._schedulers.scheduler_of(form)
        unit = scheduler.unit_of(form)
        return unit if unit and scheduler.held_back((form,)) else ""

    def _unplaced(
        self, victim: Pod, replacement: Replacement, pod: Pod, alternative: UnplacedReplacement | None = None
    ) -> UnplacedReplacement:
        form = self._forms.form_of(pod)
        placement_class = self._cluster.placement_class(form)
        alike = self._alike.get(placement_class)
        if alike is None:
            alike = self._alike[placement_class] = _alike(self._schedulers, form)
        return UnplacedReplacement(
            victim,
            replacement,
            form,
            placement_class,
            alike.scheduler,
            alike.priority,
            replacement.answer.doubt or self._schedulers.doubt(form),
            alike.optional,
            alternative,
            (form,) if alike.scheduler.unit_of(form) else (),
            within=self._within,
        )


class _InTurn(NamedTuple):
    """A candidate, and the pods of its owner that had left before: the first `number` of `before`, which only grows."""

    candidate: LandingCandidate
    before: list[Pod]
    number: int

    def holds_after(self, before: list[Pod]) -> bool:
        """Whether it is the same after these pods of its owner; which pods share a unit hangs on the cluster."""
        unplaced = self.candidate.unplaced
        if unplaced is not None and (unplaced.unit or unplaced.unit_id):
            return False
        return self.number == len(before) and self.before[: self.number] == before


def _nodes_of(shard: Shard, cluster: ShadowCluster) -> BoolMask | None:
    """The nodes of the shard, which all replacements share; None for all nodes."""
    return None if shard.is_whole else np.array([shard.owns(node) for node in cluster.table.nodes], dtype=bool)


class _Alike(NamedTuple):
    """What all pods of one placement class have in common."""

    scheduler: SchedulerModel
    priority: int
    optional: frozenset[str]


def _alike(schedulers: Schedulers, pod: Pod) -> _Alike:
    return _Alike(schedulers.scheduler_of(pod), priority_of(pod), schedulers.optional_filters(pod))


def _settled(
    replacement: Replacement,
    verdict: LandingVerdict,
    message: str = "",
    *,
    leaves: bool = True,
    is_moved: bool = True,
    cause: str = "",
) -> LandingCandidate:
    """The candidate of which it is clear what becomes of it, without looking at nodes."""
    landing = Landing(replacement.victim, replacement, verdict, verdict, message=message, cause=cause)
    return LandingCandidate(replacement.victim, leaves=leaves, is_moved=is_moved, landing=landing)


def evicted_before(victim: Pod) -> LandingCandidate:
    """The candidate for a victim that is gone already: nothing is left to evict."""
    gone = "it is already evicted"
    replacement = Replacement(victim, not_created(gone), None, "none", unmovable=gone)
    return _settled(replacement, LandingVerdict.NO, gone, leaves=False, is_moved=False)


def _other_placer(pod: Pod, *, is_foreign: bool) -> str:
    """Who places `pod`, the same words for all of its kind; "" where that is its scheduler.

    `is_foreign` says that the scheduler which it names is not modelled.
    """
    if _GATE in pod.spec.scheduling_gates or pod.labels.get(_LABEL) == "true":
        return _KUEUE
    for key in pod.annotations:
        if key.startswith(_PODSET) and key.endswith(_TOPOLOGY):
            return _KUEUE
        if is_foreign and key.startswith(KAI_ANNOTATIONS):
            return _KAI
    return _KAI if is_foreign and scheduler_name_of(pod) == _KAI_SCHEDULER else ""


class Decision(msgspec.Struct, frozen=True, gc=False):
    """A landing, and the pod that is left without a node by it."""

    landing: Landing
    homeless: Pod | None = None


class Booking(msgspec.Struct, frozen=True):
    """A victim that is booked, what that changed, and the pod that is left without a node by it.

    `node` is where its replacement is predicted, None where it is nowhere; any of `ties` is as likely. With `is_open`
    the choice of its scheduler is unknown.
    """

    candidate: LandingCandidate
    changes: WhatIf
    homeless: Pod | None
    node: str | None = None
    ties: tuple[str, ...] = ()
    is_open: bool = False


class Considered(msgspec.Struct, frozen=True):
    """A victim that was asked about. What its eviction changes stays until something else is asked, as it is mostly
    booked."""

    victim: Pod
    held: HeldRooms
    candidate: LandingCandidate
    decision: Decision
    changes: WhatIf

    def is_about(self, victim: Pod, held: HeldRooms) -> bool:
        """Whether it was asked with the same room held for the replacement and for other pods."""
        return self.victim is victim and self.held == held
