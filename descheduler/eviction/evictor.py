"""The one evictor: every strategy of every profile asks it, and it books what it grants.

Steps, limits and counting follow kubernetes-sigs/descheduler 0.36 `pkg/descheduler/evictions/evictions.go`. Nothing is
sent to the API server here; the book becomes the plan.
"""

from __future__ import annotations

from collections import Counter
from typing import Protocol

from descheduler.eviction.answers import Answers
from descheduler.eviction.checks.budgets import BudgetLedger
from descheduler.eviction.checks.limits import EvictionCounters, EvictionLimits
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.placement_verification.landing_book import LandingBook, SchedulingSettings
from descheduler.model.pod import EVICTION_IN_PROGRESS_ANNOTATION, REQUEST_EVICT_ONLY_ANNOTATION, Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.moves import Move, Refusal
from descheduler.plan.prior_moves import PriorMove

__all__ = ["Evictor", "LastQuestion"]


class LastQuestion(Protocol):
    """What is asked about a landing when nothing else stands against an eviction."""

    settings: SchedulingSettings
    """Who is taken to place the replacement."""

    def verdict(self, pod: Pod) -> Verdict:
        """Whether the landing lets `pod` go."""


class Evictor:
    """Books evictions for one run.

    `answers` are refusals of the API that are known beforehand. The prior moves of `view` have evicted their pods, or
    handed them over where the answer says so: they use limits and budgets up from the start, and are booked once more,
    at no charge, when their plugin asks for them again, or else when its turn is over.
    """

    def __init__(
        self,
        view: ClusterView,
        limits: EvictionLimits,
        *,
        answers: Answers | None = None,
        evictions_in_background: bool = False,
        landings: LandingBook | None = None,
    ) -> None:
        self._view = view
        self._answers = answers or {}
        self._budgets = BudgetLedger(view.snapshot)
        self.landings = landings or LandingBook(view.snapshot)
        self._in_background = evictions_in_background
        self.counters = EvictionCounters(limits)
        self.booked: list[Move] = []
        self.background: list[Move] = []
        self._attempts: list[Refusal] = []
        self._kept: dict[int, Refusal] = {}
        self.results: Counter[tuple[str, str, str]] = Counter()
        self._booked_pods: set[int] = set()
        self._background_pods: set[int] = set()
        self._awaited: dict[str, PriorMove] = {}
        self._adopt_prior_moves()
        if evictions_in_background:
            self._adopt_background_evictions()

    @property
    def num_background(self) -> int:
        """Pods whose eviction another controller carries out, those found in progress included."""
        return len(self._background_pods)

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """Refused requests in order, then the candidates that nobody asked for and that stay."""
        kept = (refusal for pod, refusal in self._kept.items() if pod not in self._booked_pods)
        return (*self._attempts, *kept)

    def request(
        self,
        pod: Pod,
        *,
        profile: str,
        plugin: str,
        reason: str = "",
        last_question: LastQuestion | None = None,
    ) -> Verdict:
        """Asks for the eviction of `pod`; a granted one is booked and charged at once.

        `last_question` is asked when nothing else stands against it, for it may take its time.
        """
        if not pod.uid:
            message = f"pod {pod.key} is missing UID"
            return self._refuse(pod, profile, plugin, refuse(Reason.MISSING_UID, message, pod.key))
        if self._in_background and id(pod) in self._background_pods and _may_run_in_background(pod):
            # Upstream answers success here without asking or counting; the report says that nothing new was asked.
            self._refuse(pod, profile, plugin, _ALREADY_REQUESTED)
            return ACCEPTED
        if (move := self._awaited.get(pod.uid)) is not None:
            if move.is_of(profile, plugin):
                self._book_again(move)
            return ACCEPTED
        verdict = self.counters.verdict(pod)
        if not verdict.is_accepted:
            return self._refuse(pod, profile, plugin, verdict)
        answer = self._answers.get(pod.key)
        if answer is not None:
            if self._is_handed_over(pod):
                self._leave_to_background(pod, profile, plugin, reason)
                return ACCEPTED
            verdict = refuse(Reason.API_REFUSED, answer.message or f"status {answer.code}", pod.key)
        elif id(pod) not in self._booked_pods:
            verdict = self._budgets.verdict(pod)
            if verdict.is_accepted and last_question is not None:
                verdict = last_question.verdict(pod)
        if not verdict.is_accepted:
            return self._refuse(pod, profile, plugin, verdict)
        self._book(pod, profile, plugin, reason, None if last_question is None else last_question.settings)
        return ACCEPTED

    def refuse(self, pod: Pod, *, profile: str, plugin: str, verdict: Verdict) -> Verdict:
        """Notes a request that the profile's evict plugin turned down, and returns `verdict`."""
        return self._refuse(pod, profile, plugin, verdict)

    def is_to_come(self, pod: Pod) -> bool:
        """Whether `pod` is not created yet: the replacement of one that this run evicts."""
        return self._view.is_arrival(pod)

    def awaits(self, pod: Pod) -> bool:
        """Whether an earlier round has evicted `pod` and this one has not booked it yet."""
        return pod.uid in self._awaited

    def num_taken_before(self, node_name: str, *, profile: str, plugin: str) -> int:
        """How many pods of the node earlier rounds have evicted in the name of this plugin."""
        moves = self._view.prior_moves
        return sum(move.pod.node_name == node_name and move.is_of(profile, plugin) for move in moves)

    def end_turn(self, *, profile: str, plugin: str) -> None:
        """Books what earlier rounds have evicted in the name of this plugin and it did not ask for again."""
        for move in [move for move in self._awaited.values() if move.is_of(profile, plugin)]:
            self._book_again(move)

    def keep(self, pod: Pod, *, profile: str, plugin: str, verdict: Verdict) -> None:
        """Notes why a candidate of `plugin` is not asked for; the first reason a pod gets is the one it keeps.

        Of pods that are not created yet nothing is noted: no report knows them.
        """
        if self._view.is_arrival(pod):
            return
        self.results[profile, plugin, _code(verdict)] += 1
        if id(pod) not in self._kept:
            self._kept[id(pod)] = Refusal(pod, profile, plugin, verdict, is_attempt=False)

    def _book(
        self, pod: Pod, profile: str, plugin: str, reason: str, settings: SchedulingSettings | None = None
    ) -> None:
        is_repeated = id(pod) in self._booked_pods
        self.booked.append(Move(pod, profile, plugin, reason, is_repeated))
        self.results[profile, plugin, "success"] += 1
        is_charged = self._awaited.pop(pod.uid, None) is not None
        if not is_charged:
            self.counters.count(pod)
        if not is_repeated:
            self._booked_pods.add(id(pod))
            if not is_charged:
                self._budgets.charge(pod)
                self.landings.book(pod, settings)
            self._view.book_eviction(pod, self.landings.arrival_of(pod))

    def _book_again(self, move: PriorMove) -> None:
        """Books a prior move in the name that it was made in; it has been charged for."""
        book = self._leave_to_background if self._is_handed_over(move.pod) else self._book
        book(move.pod, move.profile, move.plugin, move.reason)

    def _refuse(self, pod: Pod, profile: str, plugin: str, verdict: Verdict) -> Verdict:
        self.results[profile, plugin, _code(verdict)] += 1
        self._attempts.append(Refusal(pod, profile, plugin, verdict, is_attempt=True))
        return verdict

    def _leave_to_background(self, pod: Pod, profile: str, plugin: str, reason: str) -> None:
        self.background.append(Move(pod, profile, plugin, reason))
        is_charged = self._awaited.pop(pod.uid, None) is not None
        if not pod.is_terminal:  # there is nothing left to evacuate, so nothing is remembered or counted
            self._background_pods.add(id(pod))
            self.results[profile, plugin, "background"] += 1
            if not is_charged:
                self.counters.count(pod)

    def _is_handed_over(self, pod: Pod) -> bool:
        """Whether the API is known to answer that another controller carries the eviction out."""
        answer = self._answers.get(pod.key)
        is_answer = answer is not None and answer.starts_background_eviction
        return is_answer and self._in_background and _may_run_in_background(pod)

    def _adopt_prior_moves(self) -> None:
        for move in self._view.prior_moves:
            pod = move.pod
            self._awaited[pod.uid] = move
            if not self._is_handed_over(pod):
                self.counters.count(pod)
                self._budgets.charge(pod)
                self.landings.book(pod, self.landings.scheduling_of(move.profile))
            elif not pod.is_terminal:
                self.counters.count(pod)

    def _adopt_background_evictions(self) -> None:
        """Evictions that another controller has begun count against the limits of this run."""
        for pod in self._view.snapshot.pods:
            annotations = pod.annotations
            if EVICTION_IN_PROGRESS_ANNOTATION in annotations and _may_run_in_background(pod) and not pod.is_terminal:
                self._background_pods.add(id(pod))
                self.counters.count(pod)


_ALREADY_REQUESTED = refuse(Reason.ALREADY_REQUESTED, "another controller carries the eviction out already")


def _may_run_in_background(pod: Pod) -> bool:
    return REQUEST_EVICT_ONLY_ANNOTATION in pod.annotations


def _code(verdict: Verdict) -> str:
    return "" if verdict.reason is None else str(verdict.reason.value)
