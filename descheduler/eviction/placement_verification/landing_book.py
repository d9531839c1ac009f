"""Where the replacements of a run's evictions land: one book of moves that all profiles share.

The proof itself is `placement.prover`; this module keeps one prover for each way of scheduling that some
profile names, tells it of every booked eviction, and imports numpy only when somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.placement_verification.gains import FollowedMove, Gains, SelectedAgain
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.eviction.undo import Undo
from descheduler.model.held_room import NOTHING_HELD, HeldRooms
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import JointVerdict, Landing, LandingVerdict

if TYPE_CHECKING:  # numpy takes longer to import than validating a policy may
    from descheduler.placement.landings.openings import Openings
    from descheduler.placement.landings.takers import Takers
    from descheduler.placement.prover import LandingProver


class _Leaving(msgspec.Struct, frozen=True, gc=False):
    """A pod whose eviction is booked with its mates, granted under `settings`, or by a profile that verifies nothing.

    Room may be `held` for its replacement, and for other pods where it leaves.
    """

    pod: Pod
    settings: SchedulingSettings
    mates: tuple[Pod, ...]
    held: HeldRooms
    is_verified: bool

    def booked_with(self, prover: LandingProver) -> Landing:
        """Where its replacement lands, booked."""
        return prover.book(self.pod, mates=self.mates, held=self.held)


_Question = tuple[Pod, tuple[Pod, ...], HeldRooms, bool]
"""A pod, its mates, where room is held for its replacement and for other pods, and whether it has to be proven."""


class LandingBook:
    """The landings of one run over `snapshot`, in the order of its evictions.

    `scheduling` has an entry a profile, in order: its name, and who places what comes after its evictions; None for one
    that evicts without asking. Every scheduler has a book of all moves, in which it places every replacement itself;
    the landing of a move is that of the scheduler under which it was granted. `now` is as in LandingProver.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        scheduling: Sequence[tuple[str, SchedulingSettings | None]] = (),
        now: datetime | None = None,
    ) -> None:
        self.scheduling = tuple(scheduling)
        self.is_verifying = bool(scheduling) and all(settings is not None for _, settings in scheduling)
        """Whether every profile runs with PlacementVerification."""
        self.gains = Gains(snapshot)
        """What plugins say of the replacements of pods that they have evicted."""
        self._snapshot, self._now = snapshot, now
        self._unverified = SchedulingSettings(version=snapshot.kube_version or KubeVersion())
        self._provers: list[tuple[SchedulingSettings, LandingProver]] = []
        self._leaving: list[_Leaving] = []
        self._landings: dict[str, Landing] = {}
        self._arrivals: list[FollowedMove] = []
        """What comes for the first ones that leave."""
        self._pending_moves: dict[tuple[int, str], FollowedMove] = {}
        """By the identity of the pending pod, and its node."""
        self._considered: tuple[SchedulingSettings, _Question, Landing] | None = None
        self.num_judged = 0
        """How often a scheduler was asked where a replacement lands; each takes about a millisecond."""

    @property
    def leaving(self) -> Sequence[tuple[Pod, SchedulingSettings]]:
        """The pods whose eviction is booked, in order, and the scheduler under which it was granted."""
        return [(each.pod, each.settings) for each in self._leaving]

    @property
    def num_leaving(self) -> int:
        """How many these are."""
        return len(self._leaving)

    @property
    def assumed(self) -> tuple[str, ...]:
        """What is taken for granted of the schedulers that were asked, each a sentence."""
        return tuple(dict.fromkeys(sentence for _, prover in self._provers for sentence in prover.assumed))

    @property
    def holds_room(self) -> bool:
        """Whether room is held for some replacement on a node that is not the scheduler's choice."""
        return any(each.held.on for each in self._leaving)

    @property
    def provers(self) -> Sequence[tuple[SchedulingSettings, LandingProver]]:
        """What has followed all bookings, by scheduler, in the order in which they were first asked."""
        return self._provers

    def has_to_land(self) -> Sequence[Pod]:
        """The pods whose eviction was granted because their replacements land, in order.

        What a profile allows beside that, such as a landing that is unknown, or that a pending pod may prevent, is not
        among them.
        """
        return [each.pod for each in self._leaving if each.is_verified and _lands(self._landings.get(each.pod.uid))]

    def unproven(self, pods: Sequence[Pod], asked: Sequence[Pod]) -> frozenset[Pod]:
        """The pods of `asked`, a part of `pods`, whose replacements are not proven to land in every order.

        All of `pods` are evicted at once.
        """
        return frozenset(pod for found in self._unproven(pods, asked, 0) for pod in found)

    def is_proven(self, pods: Sequence[Pod], asked: Sequence[Pod], after: int = 0, *, may_stay: bool = False) -> bool:
        """Whether there are none of these where `pods` are evicted after the first `after` booked moves have settled.

        With `may_stay` the proof holds for any part of `pods`, since evictions can be refused when they are called.
        """
        return not any(self._unproven(pods, asked, after, may_stay=may_stay, one_is_enough=True))

    def _unproven(
        self, pods: Sequence[Pod], asked: Sequence[Pod], after: int, **options: bool
    ) -> Iterator[tuple[Pod, ...]]:
        """What each scheduler has no proof for."""
        granted = {each.pod: each.settings for each in self._leaving}
        for known, prover in self._provers:
            own = [pod for pod in asked if _are_alike(granted[pod], known)]
            if own:
                with prover.as_of(after):
                    found = prover.unproven(pods, own, **options)
                yield found

    def with_room(self, bundles: Sequence[Sequence[Pod]], profile_indices: Sequence[int], number: int) -> list[bool]:
        """Of each of `bundles` whether its replacements land, elsewhere, on top of the first `number` booked moves."""
        self._considered = None
        return [
            self._has_room(self.prover_of(profile_index), pods, number)
            for pods, profile_index in zip(bundles, profile_indices, strict=True)
        ]

    def _has_room(self, prover: LandingProver, pods: Sequence[Pod], number: int) -> bool:
        self.num_judged += len(pods)
        with prover.as_of(number):
            if len(pods) > 1:
                return prover.prove_further(pods, are_mates=True).verdict is LandingVerdict.LANDS
            landing = prover.consider(pods[0])
            return _lands(landing) and not landing.returns_to_source

    @contextmanager
    def without_moves(self) -> Iterator[None]:
        """A context for proofs over all moves at once, in which none of them is booked.

        Each proof has to take all moves back, which is done once for those within.
        """
        with ExitStack() as stack:
            for _, prover in self._provers:
                stack.enter_context(prover.as_of(0))
            yield

    def takers_of(self, nodes: Sequence[str], pods: Iterable[Pod], most: int) -> dict[str, Takers]:
        """By each of `nodes`, those of `pods`, which are booked, whose replacements may go there before others do; the
        first `most` of them are named."""
        from descheduler.placement.landings.takers import TakerSearch

        settings = {each.pod: each.settings for each in self._leaving}
        search = TakerSearch(nodes, most)
        openings: dict[LandingProver, Openings] = {}
        with self.without_moves():
            for pod in pods:
                prover = self._prover(settings[pod])
                if prover not in openings:
                    openings[prover] = prover.openings()
                search.ask(pod, openings[prover])
        return search.found()

    def landing_of(self, pod: Pod) -> Landing | None:
        """Where the replacement of an evicted pod lands, as it was when the eviction was booked; None if unknown."""
        return self._landings.get(pod.uid)

    def arrival_of(self, pod: Pod) -> Pod | None:
        """The pod that comes for an evicted one, bound to where it lands; None when none comes or it is not proven.

        It has the annotations by which its scheduler notes what it gets there.
        """
        landing = self.landing_of(pod)
        if landing is None or landing.node is None or landing.cause or landing.replacement.pod is None:
            return None
        pod = landing.replacement.pod
        return msgspec.structs.replace(pod, node_name=landing.node, annotations={**pod.annotations, **landing.patch})

    def scheduling_of(self, profile: str) -> SchedulingSettings | None:
        """Who places what comes after the evictions of a profile; None for one that evicts without asking."""
        return next((settings for name, settings in self.scheduling if name == profile), None)

    def prover_of(self, profile_index: int) -> LandingProver:
        """What follows all bookings under the scheduler of a profile, kube-scheduler for one that asks none."""
        return self._prover(self._settings_of(profile_index))

    def predicted(self, pod: Pod, profile_index: int, held: HeldRooms = NOTHING_HELD) -> Landing:
        """Where the replacement of `pod` would land after everything booked so far, under the same scheduler."""
        settings = self._settings_of(profile_index)
        return self.consider(pod, settings, only_proven=True, held=held)

    def _settings_of(self, profile_index: int) -> SchedulingSettings:
        settings = self.scheduling[profile_index][1] if self.scheduling else None
        return settings or self._unverified

    def consider(
        self,
        pod: Pod,
        settings: SchedulingSettings,
        *,
        only_proven: bool,
        mates: Sequence[Pod] = (),
        held: HeldRooms = NOTHING_HELD,
    ) -> Landing:
        """Where the replacement of `pod` would land after everything booked so far; as LandingProver has it."""
        question = pod, tuple(mates), held, only_proven
        if self._considered is not None:
            known_settings, known_question, landing = self._considered
            if known_question == question and _are_alike(known_settings, settings):
                return landing
        prover = self._prover(settings)
        landing = prover.consider(pod, only_proven=only_proven, mates=mates, held=held)
        self.num_judged += 1
        self._considered = settings, question, landing
        return landing

    def selected_again(
        self, landing: Landing, settings: SchedulingSettings, profile_index: int, plugin: str, *, is_held: bool
    ) -> SelectedAgain | None:
        """The first node on which a replacement may land and `plugin` of a profile would select it again, if any.

        That is after everything booked so far, wherever the replacements of that and pending pods may be then, and for
        the cause for which the plugin selects its victim now. Where room `is_held` for it, it is on no other node.
        """
        replacement = landing.replacement.pod
        if replacement is None or landing.node is None or not self.gains.judges(profile_index, plugin):
            return None
        predicted = (landing.node, *landing.ties), list[tuple[Pod, str]]()
        for number, (nodes, others) in enumerate(
            [predicted] if is_held else self._prover(settings).ends(landing.victim)
        ):
            self.gains.follow(*self._settled(others))
            again = self.gains.selected_again(profile_index, plugin, landing.victim, replacement, dict.fromkeys(nodes))
            if again is not None:
                return again._replace(is_predicted=not number)
        return None

    def _settled(self, others: Iterable[tuple[Pod, str]]) -> tuple[Sequence[FollowedMove], Sequence[FollowedMove]]:
        """What comes for the first of the booked pods, and then for those from the first one on that has another node
        by `others`; with the latter the pending ones of `others`, which have these nodes."""
        for each in self._leaving[len(self._arrivals) :]:
            self._arrivals.append(FollowedMove(each.pod, self.arrival_of(each.pod)))
        moved = {id(pod): node for pod, node in others if pod.node_name}
        pending = [self._followed_pending(pod, node) for pod, node in others if not pod.node_name]
        if not moved:
            return self._arrivals, pending
        first = next((place for place, each in enumerate(self._arrivals) if id(each.pod) in moved), len(self._arrivals))
        later = [each.on(moved[id(each.pod)]) if id(each.pod) in moved else each for each in self._arrivals[first:]]
        return self._arrivals[:first], later + pending

    def _followed_pending(self, pod: Pod, node: str) -> FollowedMove:
        """The same each time, by which `Gains` knows it again."""
        known = self._pending_moves.get((id(pod), node))
        if known is None:
            known = FollowedMove(pod, msgspec.structs.replace(pod, node_name=node))
            self._pending_moves[id(pod), node] = known
        return known

    def consider_together(self, pods: Sequence[Pod], settings: SchedulingSettings) -> JointVerdict:
        """Whether the replacements of `pods`, which leave at once, land after everything booked so far."""
        self._considered = None
        self.num_judged += len(pods)
        return self._prover(settings).prove_further(pods, are_mates=True)

    def book(
        self,
        pod: Pod,
        settings: SchedulingSettings | None,
        *,
        mates: Sequence[Pod] = (),
        held: HeldRooms = NOTHING_HELD,
    ) -> Undo:
        """Takes in that `pod` is evicted with its `mates`, granted under `settings`; None when its landing
        was not asked for. Room is `held` for its replacement, and for other pods where it leaves.

        Without settings its landing is known only where some other profile asks the scheduler that an unverified one is
        taken for. No pod is booked twice.
        """
        if settings is not None:
            self._prover(settings)
        self._considered = None
        granted = settings or self._unverified
        leaving = _Leaving(pod, granted, tuple(mates), held, settings is not None)
        self._leaving.append(leaving)
        for known, prover in self._provers:
            landing = leaving.booked_with(prover)
            if _are_alike(known, granted):
                self._landings[pod.uid] = landing
            if settings is None or not _are_alike(known, settings):
                self.num_judged += 1
        return self._take_back

    def assess(self, most: int) -> None:
        """Looks up where the first `most` unverified evictions land, as kube-scheduler would place them.

        For the report: it comes after the last booking.
        """
        num_left = min(most, sum(each.pod.uid not in self._landings for each in self._leaving))
        prover = self._new_prover(self._unverified, books_likely=True) if num_left else None
        for leaving in self._leaving:
            if prover is None or not num_left:
                return
            landing = leaving.booked_with(prover)
            if leaving.pod.uid not in self._landings:
                self._landings[leaving.pod.uid] = landing
                num_left -= 1

    @contextmanager
    def what_if(self) -> Iterator[None]:
        """A context after which schedulers are known again that were known before; bookings are taken back before."""
        num_provers, landings = len(self._provers), dict(self._landings)
        try:
            yield
        finally:
            del self._provers[num_provers:]
            self._landings, self._considered = landings, None

    def _take_back(self) -> None:
        self._considered = None
        self._landings.pop(self._leaving.pop().pod.uid, None)
        del self._arrivals[len(self._leaving) :]
        for _, prover in self._provers:
            prover.take_back()

    def _prover(self, settings: SchedulingSettings) -> LandingProver:
        for known, prover in self._provers:
            if _are_alike(known, settings):
                return prover
        prover = self._new_prover(settings)
        for leaving in self._leaving:
            landing = leaving.booked_with(prover)
            if leaving.settings == settings:
                self._landings[leaving.pod.uid] = landing
        self._provers.append((settings, prover))
        return prover

    def _new_prover(self, settings: SchedulingSettings, *, books_likely: bool = False) -> LandingProver:
        from descheduler.placement.prover import LandingProver

        return LandingProver(
            self._snapshot,
            configuration=settings.resolved(),
            version=settings.version,
            books_likely=books_likely,
            now=self._now,
        )


def _lands(landing: Landing | None) -> bool:
    """Whether it does, as far as its owner creates the pod."""
    if landing is None:
        return False
    verdict, of_owner = landing.verdict, landing.replacement.answer.conditions
    return verdict is LandingVerdict.LANDS or (verdict is LandingVerdict.LANDS_IF and landing.conditions == of_owner)


def _are_alike(settings: SchedulingSettings, others: SchedulingSettings) -> bool:
    """Whether the same scheduler places the replacements; mostly they are one object, and need not be compared."""
    return settings is others or settings == others
