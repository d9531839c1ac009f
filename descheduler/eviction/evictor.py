"""The one evictor: every strategy of every profile asks it, and it books what it grants.

Steps and counting follow kubernetes-sigs/descheduler 0.36 `pkg/descheduler/evictions/evictions.go`. Nothing is sent to
the API server here; the book becomes the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from descheduler.eviction.background import BackgroundEvictions
from descheduler.eviction.book import Book
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.placement_verification.earlier_waves import MOST_PASSED, MOST_WANTED, best_order
from descheduler.eviction.placement_verification.landing_book import LandingBook
from descheduler.eviction.request_check import Allowance, BundlingCheck, CountingCheck, RequestCheck, ScopingCheck
from descheduler.eviction.undo import NOTHING_DONE, Undo, undo_all
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move

NOT_CREATED = refuse(Reason.MISSING_UID, "the pod is not created yet")
"""Of a pod that comes for one that this run evicts."""

_ALREADY_REQUESTED = refuse(Reason.ALREADY_REQUESTED, "another controller already evicts the pod")
_FOR_WANT_OF_ROOM = frozenset({Reason.NO_LANDING, Reason.CONDITIONAL_LANDING, Reason.RETURNS_TO_SOURCE})
"""Refusals of replacements that find no node, none but their own one, or one that a pending pod may have."""
_NOT_ASKED_FOR = frozenset({Reason.OUT_OF_SCOPE, Reason.OTHER_SHARD})
"""Refusals of pods that a run was told not to ask for, so that no request is counted."""


class _Grant(NamedTuple):
    """How to take a grant back, and what was granted; nothing where earlier rounds have evicted it.

    So many landings were booked before it.
    """

    undo: Undo
    bundle: Bundle | None
    num_landings: int


class Evictor:
    """Books evictions for one run: what all of `checks` accept, asked in this order.

    The prior moves of `view` have evicted their pods, or handed them over. The checks count them from the start, and
    they are booked once more, at no charge, when their plugin asks for them again, or else when its turn is over.
    """

    def __init__(
        self,
        view: ClusterView,
        checks: Sequence[RequestCheck],
        *,
        background: BackgroundEvictions | None = None,
        landings: LandingBook | None = None,
    ) -> None:
        self._view = view
        self._checks = tuple(checks)
        self._bundling = [check for check in self._checks if isinstance(check, BundlingCheck)]
        self._scoping = [check for check in self._checks if isinstance(check, ScopingCheck)]
        self._background = background or BackgroundEvictions(view.snapshot)
        self.landings = landings or LandingBook(view.snapshot)
        self.book = Book()
        self.turn = 0
        """Which turn moves are of that are granted now."""
        self._prior = {move.pod.uid: move for move in view.prior_moves}
        self._booked_again: set[str] = set()
        self._grants: list[_Grant] = []
        self._without_room: list[Bundle] = []
        """What was refused since `hold_places` for want of room for its replacements."""
        self._came_along: set[str] = set()
        self._refused_whole: dict[tuple[int, str, frozenset[str]], Verdict] = {}
        """Since the last grant; each pod of a gang asks for the whole of it, and a proof is dear."""
        self._is_trial = False
        for check in self._checks:
            check.adopt(tuple(view.prior_moves))

    @property
    def num_background(self) -> int:
        """Pods whose eviction another controller carries out, those found in progress included."""
        return self._background.num_begun

    def mates_of(self, bundle: Bundle) -> Sequence[Pod]:
        """The further pods with which the checks accept what they refuse alone; mostly none."""
        if not self._bundling or any(map(self.is_to_come, bundle.pods)):
            return ()
        found: dict[str, Pod] = {}
        asked = whole = self._without_awaited(bundle)
        # What leaves with the pods of one check can leave too few for another.
        while more := {pod.uid: pod for check in self._bundling for pod in check.mates(whole) if pod.uid not in found}:
            found |= more
            whole = asked.with_mates(list(found.values()), "")
        return list(found.values())

    def allowances(self, profile_index: int) -> Sequence[Allowance]:
        """How many more pods of a profile the checks accept, as far as they count pods."""
        counting = (check for check in self._checks if isinstance(check, CountingCheck))
        return [allowance for check in counting for allowance in check.allowances(profile_index)]

    def of_scope(self, pod: Pod) -> Verdict:
        """Whether the run may move `pod` at all, which no other eviction changes."""
        verdicts = (check.of_scope(pod) for check in self._scoping)
        return next((verdict for verdict in verdicts if not verdict.is_accepted), ACCEPTED)

    def request_whole(self, bundle: Bundle, of_filters: Verdict) -> Verdict:
        """As `request`, of a bundle with mates, about which the filters of its profile say `of_filters`.

        The answer names no limit: a plugin of which the next pod may stay within it has no reason to stop.
        """
        key = bundle.profile_index, bundle.plugin, frozenset(pod.uid for pod in bundle.pods)
        asked, refusal = self._without_awaited(bundle), self._refused_whole.get(key)
        if refusal is None:
            refusal = self._refusal(asked) if of_filters.is_accepted else of_filters
            if refusal is None:
                self._grant(bundle, asked)
                return ACCEPTED
            self._refused_whole[key] = refusal
        self._refuse(asked, refusal)
        return msgspec.structs.replace(refusal, reached=None)

    def request(self, bundle: Bundle) -> Verdict:
        """Asks for the eviction of all pods of `bundle`; a granted one is booked and charged at once, or none of it.

        A pod that has come along with others leaves already, and to ask for it is no repeated request.
        """
        if any(map(self.is_to_come, bundle.pods)):
            return NOT_CREATED
        if self._came_along and all(pod.uid in self._came_along for pod in bundle.pods):
            return ACCEPTED
        asked = self._without_awaited(bundle)
        refusal = self._refusal(asked)
        if refusal is not None:
            self._refuse(asked, refusal)
            return refusal
        self._grant(bundle, asked)
        return ACCEPTED

    def _refusal(self, bundle: Bundle) -> Verdict | None:
        """What the first check says that has something against `bundle`."""
        for check in self._checks:
            verdict = check.verdict(bundle)
            if verdict.reason is not None:
                return verdict
        return None

    def undo(self) -> None:
        """Takes the last grant back, with everything that was charged for it and all that it changed.

        In a `what_if` the grants before it can follow, as far as that began; outside of one the last few hundred.
        Raises IndexError when there is none.
        """
        self._refused_whole.clear()
        self._grants.pop().undo()

    @contextmanager
    def what_if(self) -> Iterator[None]:
        """A context at whose end all that was granted, refused and noted in it is taken back."""
        num_grants, notes, was_trial = len(self._grants), self.book.notes(), self._is_trial
        self._is_trial = True
        with self.landings.what_if():
            try:
                yield
            finally:
                self._take_back_to(num_grants)
                self.book.restore(notes)
                self._is_trial = was_trial

    def hold_places(self) -> None:
        """From now on nothing is granted ahead of what was granted so far."""
        self._grants.clear()
        self._without_room.clear()

    def put_ahead(self, is_alone: Callable[[Bundle], bool]) -> bool:
        """Whether something was granted that was refused since `hold_places`, for want of room for its replacements.

        It is granted ahead of what has taken its room since, all of which stays granted and is booked once more after
        it. Asked for is what `is_alone`: a plugin selects it whatever else it was granted.
        """
        refused, self._without_room = self._without_room, []
        start = max((place for place, grant in enumerate(self._grants, 1) if grant.bundle is None), default=0)
        start = max(start, len(self._grants) - MOST_PASSED)
        kept = [grant.bundle for grant in self._grants[start:] if grant.bundle is not None]
        if not kept or self.landings.holds_room:
            return False
        wanted = self._with_room_before(self._grants[start], filter(is_alone, refused))
        if not wanted:
            return False
        bundles = [*wanted, *kept]
        order = best_order(
            range(len(wanted)),
            range(len(wanted), len(bundles)),
            lambda places: self._refused_in(places, bundles, start),
        )
        self._take_back_to(start)
        for place in order:
            self._grant(bundles[place], self._without_awaited(bundles[place]))
        ahead = [bundles[place] for place in order if place < len(wanted)]
        self._withdraw(ahead)
        self._refuse_again([] if not ahead else [bundles[place] for place in range(len(wanted)) if place not in order])
        return bool(ahead)

    def _refuse_again(self, bundles: Iterable[Bundle]) -> None:
        """Notes what refuses these now, such as a limit that is reached since: it is not for want of room alone."""
        for bundle in bundles:
            refusal = self._refusal(self._without_awaited(bundle))
            if refusal is not None and not _lacks_room(refusal):
                self._withdraw([bundle])
                self._refuse(bundle, refusal)

    def _withdraw(self, bundles: Iterable[Bundle]) -> None:
        """Forgets that these found no room."""
        self.book.withdraw([pod for bundle in bundles for pod in bundle.pods], _FOR_WANT_OF_ROOM)

    def _with_room_before(self, grant: _Grant, refused: Iterable[Bundle]) -> list[Bundle]:
        """The bundles of `refused` that nothing but what was granted since keeps from a node, each once."""
        found = {frozenset(pod.uid for pod in bundle.pods): bundle for bundle in refused}
        waiting = [bundle for bundle in found.values() if not any(map(self.book.has, bundle.pods))][:MOST_WANTED]
        waiting = [bundle for bundle in waiting if _lacks_room(self._refusal(bundle))]
        pods, profiles = [bundle.pods for bundle in waiting], [bundle.profile_index for bundle in waiting]
        has_room = self.landings.with_room(pods, profiles, grant.num_landings)
        return [bundle for bundle, has in zip(waiting, has_room, strict=True) if has]

    def _refused_in(self, order: Sequence[int], bundles: Sequence[Bundle], start: int) -> Mapping[int, bool]:
        """Which of `bundles` are refused in this order, instead of what was granted from `start` on; and whether that
        is for want of room."""
        self._take_back_to(start)
        refused = {}
        for place in order:
            asked = self._without_awaited(bundles[place])
            refusal = self._refusal(asked)
            if refusal is None:
                self._grant(bundles[place], asked)
            else:
                refused[place] = _lacks_room(refusal)
        return refused

    def _take_back_to(self, number: int) -> None:
        while len(self._grants) > number:
            self.undo()

    def is_to_come(self, pod: Pod) -> bool:
        """Whether `pod` is not created yet: the replacement of one that this run evicts."""
        return self._view.is_arrival(pod)

    def settled(self, pod: Pod) -> Verdict | None:
        """The answer of every filter about `pod`, which is not asked; None where it is."""
        if self._view.is_arrival(pod):
            return NOT_CREATED
        return ACCEPTED if self._prior and self.awaits(pod) else None

    def awaits(self, pod: Pod) -> bool:
        """Whether an earlier round has evicted `pod` and this one has not booked it yet."""
        return pod.uid in self._prior and pod.uid not in self._booked_again

    def num_taken_before(self, node_name: str, *, profile: str, plugin: str) -> int:
        """How many pods of the node earlier rounds have evicted in the name of this plugin."""
        moves = self._view.prior_moves
        return sum(move.pod.node_name == node_name and move.is_of(profile, plugin) for move in moves)

    def num_leaving(self, *, profile: str, plugin: str) -> int:
        """How many pods earlier rounds have evicted in the name of this plugin, or this one was granted."""
        num_awaited = sum(self.awaits(move.pod) and move.is_of(profile, plugin) for move in self._prior.values())
        return num_awaited + self.book.num_granted(profile, plugin)

    def end_turn(self, *, profile: str, plugin: str) -> None:
        """Books what earlier rounds have evicted in the name of this plugin and it did not ask for again."""
        for move in self._prior.values():
            if self.awaits(move.pod) and move.is_of(profile, plugin):
                self._granted(self._book_again(move), None, self.landings.num_leaving)

    def keep(self, candidate: Pod, *, profile: str, plugin: str, verdict: Verdict, reason: str = "") -> None:
        """Notes why a candidate of `plugin`, selected for `reason`, is not asked for; the first verdict is kept.

        Of pods that are not created yet nothing is noted: no report knows them.
        """
        if not self._view.is_arrival(candidate):
            self.book.keep(candidate, profile, plugin, verdict, reason)

    def _grant(self, bundle: Bundle, asked: Bundle) -> None:
        """Charges what was asked for and books the bundle; all of it, or nothing when a check fails at that."""
        undos: list[Undo] = []
        num_landings = self.landings.num_leaving
        try:
            for check in self._checks:
                undos.append(check.charge(asked))
            number = len(self.book.moves) + 1 if len(bundle.candidates) > 1 else 0
            for candidate in bundle.candidates:
                undos.append(self._book(candidate, bundle, number))
                undos.append(self._note_mate(candidate))
        except BaseException:
            undo_all(undos)()
            raise
        self._granted(undo_all(undos), bundle, num_landings)

    def _granted(self, undo: Undo, bundle: Bundle | None, num_landings: int) -> None:
        """Keeps the undo of a grant for as long as somebody may want it, since there may be 100,000 of them."""
        self._refused_whole.clear()
        if not self._is_trial and len(self._grants) > 2 * MOST_PASSED:
            del self._grants[:-MOST_PASSED]
        self._grants.append(_Grant(undo, bundle, num_landings))

    def _without_awaited(self, bundle: Bundle) -> Bundle:
        """What is still to be asked for: prior moves have been charged."""
        if not self._prior:
            return bundle
        return bundle.only(candidate for candidate in bundle.candidates if not self.awaits(candidate.pod))

    def _book(self, candidate: Candidate, bundle: Bundle, number: int) -> Undo:
        """Books one candidate of a bundle that every check accepts, and that has this number among the moves."""
        pod, profile, plugin = candidate.pod, bundle.profile, bundle.plugin
        if self.awaits(pod):
            move = self._prior[pod.uid]
            return self._book_again(move) if move.is_of(profile, plugin) else NOTHING_DONE
        if self._background.have_begun(pod):
            # Upstream answers success here without asking or counting; the report says that nothing new was asked.
            return self.book.refuse(pod, profile, plugin, _ALREADY_REQUESTED, candidate.reason)
        return self._enter(
            Move(
                pod,
                profile,
                plugin,
                candidate.reason,
                is_repeated=self.book.has(pod),
                bundle=number,
                wave=max(candidate.wave, self.book.last_wave),  # what was decided later counts on the moves before it
                cost=candidate.cost,
                held_on=candidate.held_on,
                rooms=candidate.rooms,
                serves=candidate.serves,
                turn=self.turn,
            )
        )

    def _note_mate(self, candidate: Candidate) -> Undo:
        if not candidate.is_mate:
            return NOTHING_DONE
        uid = candidate.pod.uid
        self._came_along.add(uid)
        return lambda: self._came_along.discard(uid)

    def _book_again(self, prior: Move) -> Undo:
        """Books a prior move in the name that it was made in; it has been charged for."""
        self._booked_again.add(prior.pod.uid)
        entered = self._enter(msgspec.structs.replace(prior, landing=None, bundle=0, serves=()))
        return undo_all([lambda: self._booked_again.discard(prior.pod.uid), entered])

    def _enter(self, move: Move) -> Undo:
        pod = move.pod
        if self._background.take_over(pod):
            return undo_all([self.book.hand_over(move), self._background.begin(pod)])
        entered = self.book.enter(move)
        if move.is_repeated:
            return entered
        return undo_all([entered, self._view.book_eviction(pod, self.landings.arrival_of(pod))])

    def _refuse(self, bundle: Bundle, verdict: Verdict) -> None:
        """Notes a refusal for every pod of the bundle that the plugin has selected."""
        profile, plugin = bundle.profile, bundle.plugin
        if _lacks_room(verdict) and not self._is_trial:
            self._without_room.append(bundle)
        if len(bundle.candidates) > 1:
            pods = f"{len(bundle.candidates)} pods that have to leave together"
            verdict = msgspec.structs.replace(verdict, message=f"none of the {pods} is evicted: {verdict.message}")
        for candidate in bundle.candidates:
            if candidate.is_mate:
                continue
            pod, reason = candidate.pod, candidate.reason
            if verdict.reason in _NOT_ASKED_FOR:
                self.keep(pod, profile=profile, plugin=plugin, verdict=verdict, reason=reason)
            else:
                self.book.refuse(pod, profile, plugin, verdict, reason)


def _lacks_room(refusal: Verdict | None) -> bool:
    """Whether what was granted before may be the cause of a refusal: it has the nodes of the replacement."""
    return refusal is not None and refusal.reason in _FOR_WANT_OF_ROOM
