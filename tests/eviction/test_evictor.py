"""The evictor's book: what was asked, what was granted, and what was refused why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from descheduler.eviction.answers import EvictionAnswer
from descheduler.eviction.checks.limits import EvictionLimits
from descheduler.eviction.evictor import Evictor
from descheduler.eviction.placement_verification.landing_book import SchedulingSettings
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from tests.builders import make_budget, make_node, make_pod, make_view

EVACUATION = EvictionAnswer(429, "denied: Eviction triggered evacuation of VMI")
UNLIMITED = EvictionLimits()
REQUEST_ONLY = {"descheduler.alpha.kubernetes.io/request-evict-only": ""}
IN_PROGRESS = REQUEST_ONLY | {"descheduler.alpha.kubernetes.io/eviction-in-progress": ""}


class Question:
    """A last question that is always answered alike."""

    settings = SchedulingSettings()

    def __init__(self, answer: Verdict) -> None:
        self.asked: list[str] = []
        self._answer = answer

    def verdict(self, pod: Pod) -> Verdict:
        """The answer."""
        self.asked.append(pod.name)
        return self._answer


def make_evictor(
    pods: Sequence[Pod] = (),
    limits: EvictionLimits = UNLIMITED,
    *,
    budgets: tuple[Any, ...] = (),
    **options: Any,
) -> Evictor:
    """An evictor over one node; moves do not take effect."""
    return Evictor(make_view([make_node("a")], pods, budgets=budgets), limits, **options)


def ask(evictor: Evictor, pod: Pod, plugin: str = "PodLifeTime") -> Verdict:
    """One request of profile `p`."""
    return evictor.request(pod, profile="p", plugin=plugin, reason="is old")


def test_granted_request_is_booked_and_counted() -> None:
    pod = make_pod("p")
    evictor = make_evictor([pod])

    verdict = ask(evictor, pod)

    assert verdict.is_accepted
    assert [(b.pod, b.profile, b.plugin, b.reason, b.is_repeated) for b in evictor.booked] == [
        (pod, "p", "PodLifeTime", "is old", False)
    ]
    assert (evictor.counters.total, evictor.counters.per_node["a"], evictor.counters.per_namespace["default"]) == (
        1,
        1,
        1,
    )


def test_refusal_is_kept_with_its_reason_and_counts_nothing() -> None:
    pod = make_pod("p")
    evictor = make_evictor([pod], EvictionLimits(total=0))

    verdict = ask(evictor, pod)

    assert verdict.reason is Reason.TOTAL_LIMIT
    assert [(r.pod, r.verdict, r.is_attempt) for r in evictor.refusals] == [(pod, verdict, True)]
    assert not evictor.booked
    assert evictor.counters.total == 0


def test_pod_without_uid_is_no_stored_pod() -> None:
    pod = make_pod("p", uid="")

    assert ask(make_evictor([pod]), pod).reason is Reason.MISSING_UID


def test_known_answer_of_the_api_refuses_in_its_words() -> None:
    pod = make_pod("p")
    evictor = make_evictor([pod], answers={"default/p": EvictionAnswer(500, "no")})

    verdict = ask(evictor, pod)

    assert (verdict.reason, verdict.message) == (Reason.API_REFUSED, "no")


def test_limits_are_asked_before_the_api() -> None:
    pod = make_pod("p")
    evictor = make_evictor([pod], EvictionLimits(per_node=0), answers={"default/p": EvictionAnswer(500, "no")})

    assert ask(evictor, pod).reason is Reason.NODE_LIMIT


def test_second_pod_of_a_budget_for_one_stays() -> None:
    first, second = (make_pod(name, labels={"app": "x"}) for name in "pq")
    evictor = make_evictor([first, second], budgets=(make_budget("b", {"app": "x"}, disruptions_allowed=1),))

    verdicts = [ask(evictor, pod).reason for pod in (first, second)]

    assert verdicts == [None, Reason.DISRUPTION_BUDGET]


def test_repeated_request_counts_again_and_is_marked_and_charges_its_budget_once() -> None:
    pod, other = (make_pod(name, labels={"app": "x"}) for name in "pq")
    evictor = make_evictor([pod, other], budgets=(make_budget("b", {"app": "x"}, disruptions_allowed=2),))

    verdicts = [ask(evictor, asked).reason for asked in (pod, pod, other)]

    assert verdicts == [None, None, None]
    assert [booked.is_repeated for booked in evictor.booked] == [False, True, False]
    assert evictor.counters.total == 3


def test_last_question_is_asked_once_and_only_of_pods_that_nothing_else_keeps() -> None:
    spared, refused, free, late = (make_pod(name, labels={"app": name}) for name in ("b", "r", "f", "l"))
    evictor = make_evictor(
        [spared, refused, free, late],
        EvictionLimits(total=2),
        budgets=(make_budget("b", {"app": "b"}, disruptions_allowed=0),),
        answers={"default/r": EvictionAnswer(500, "no")},
    )
    question = Question(ACCEPTED)

    for pod in (spared, refused, free, free, late):
        evictor.request(pod, profile="p", plugin="PodLifeTime", last_question=question)

    assert question.asked == ["f"]
    assert [booked.pod.name for booked in evictor.booked] == ["f", "f"]


def test_last_question_keeps_a_pod_as_an_attempt() -> None:
    pod = make_pod("p")
    evictor = make_evictor([pod])

    question = Question(refuse(Reason.NO_LANDING, "no room"))

    verdict = evictor.request(pod, profile="p", plugin="PodLifeTime", last_question=question)

    assert verdict.reason is Reason.NO_LANDING
    assert [(refusal.verdict, refusal.is_attempt) for refusal in evictor.refusals] == [(verdict, True)]


def test_first_reason_a_kept_candidate_gets_is_the_one_it_keeps() -> None:
    pod = make_pod("p")
    evictor = make_evictor([pod])

    for reason in (Reason.BARE_POD, Reason.LOCAL_STORAGE):
        evictor.keep(pod, profile="p", plugin="PodLifeTime", verdict=refuse(reason, "stays"))

    assert [(r.verdict.reason, r.is_attempt) for r in evictor.refusals] == [(Reason.BARE_POD, False)]


class TestEvictionsInBackground:
    """Evictions that another controller carries out."""

    def make(self, pods: Sequence[Pod], limits: EvictionLimits = UNLIMITED, *, gate: bool = True) -> Evictor:
        """An evictor whose API leaves every pod to the other controller."""
        answers = {pod.key: EVACUATION for pod in pods}
        return make_evictor(pods, limits, answers=answers, evictions_in_background=gate)

    def test_accepted_one_counts_against_limits_and_is_no_eviction(self) -> None:
        first, second = (make_pod(name, annotations=REQUEST_ONLY) for name in "pq")
        evictor = self.make([first, second], EvictionLimits(per_node=1))

        verdicts = [ask(evictor, pod).reason for pod in (first, second)]

        assert verdicts == [None, Reason.NODE_LIMIT]
        assert not evictor.booked
        assert [booked.pod for booked in evictor.background] == [first]

    def test_asking_again_is_granted_without_counting(self) -> None:
        pod = make_pod("p", annotations=REQUEST_ONLY)
        evictor = self.make([pod], EvictionLimits(total=1))

        verdicts = [ask(evictor, pod).reason for _ in range(2)]

        assert verdicts == [None, None]
        assert evictor.num_background == 1

    def test_pods_found_in_progress_count_from_the_start(self) -> None:
        evictor = self.make([make_pod("p", annotations=IN_PROGRESS)], EvictionLimits(total=1))

        assert ask(evictor, make_pod("q")).reason is Reason.TOTAL_LIMIT

    def test_without_the_gate_the_answer_is_a_refusal(self) -> None:
        pod = make_pod("p", annotations=REQUEST_ONLY)

        assert ask(self.make([pod], gate=False), pod).reason is Reason.API_REFUSED

    def test_pod_that_does_not_ask_for_it_is_refused(self) -> None:
        pod = make_pod("p")

        assert ask(self.make([pod]), pod).reason is Reason.API_REFUSED
