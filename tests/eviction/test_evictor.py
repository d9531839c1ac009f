"""The evictor's book: what was asked, what was granted, and what was refused why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from descheduler.eviction.background import EvictionAnswer
from descheduler.eviction.checks.limits import RunLimits
from descheduler.eviction.request_check import PodByPod
from descheduler.model.objects import Namespace
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, EvictionLimit, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate
from tests.builders import make_budget, make_node, make_pod, make_view
from tests.eviction.evictors import UNLIMITED, Setting, ask, make_setting

EVACUATION = EvictionAnswer(429, "denied: Eviction triggered evacuation of VMI")
REQUEST_ONLY = {"descheduler.alpha.kubernetes.io/request-evict-only": ""}
IN_PROGRESS = REQUEST_ONLY | {"descheduler.alpha.kubernetes.io/eviction-in-progress": ""}


class Question(PodByPod):
    """A further check that is always answered alike."""

    def __init__(self, answer: Verdict) -> None:
        self.asked: list[str] = []
        self._answer = answer

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """The answer."""
        del bundle
        self.asked.append(candidate.pod.name)
        return self._answer


def setting_of(
    pods: Sequence[Pod],
    limits: RunLimits = UNLIMITED,
    *further: PodByPod,
    budgets: Any = (),
    namespaces: Sequence[Namespace] = (),
    **options: Any,
) -> Setting:
    """An evictor over one node; moves do not take effect."""
    named = {each.name: each for each in namespaces}
    view = make_view([make_node("a")], pods, budgets=budgets, namespaces=named)
    return make_setting(view, limits, *further, **options)


def test_granted_request_is_booked_and_counted() -> None:
    pod = make_pod("p")
    setting = setting_of([pod])

    verdict = ask(setting.evictor, pod, plugin="PodLifeTime", reason="is old")

    counters, moves = setting.counters, setting.evictor.book.moves
    assert verdict.is_accepted
    assert [(m.pod, m.profile, m.plugin, m.reason, m.is_repeated) for m in moves] == [
        (pod, "p", "PodLifeTime", "is old", False)
    ]
    assert (counters.total, counters.per_node["a"], counters.per_namespace["default"]) == (1, 1, 1)


def test_refusal_is_kept_with_its_reason_and_counts_nothing() -> None:
    pod = make_pod("p")
    setting = setting_of([pod], RunLimits(total=0))

    verdict = ask(setting.evictor, pod)

    book = setting.evictor.book
    assert verdict.limit is EvictionLimit.TOTAL
    assert [(r.pod, r.verdict, r.is_attempt) for r in book.refusals] == [(pod, verdict, True)]
    assert not book.moves
    assert setting.counters.total == 0


def test_pod_without_uid_is_no_stored_pod() -> None:
    pod = make_pod("p", uid="")

    assert ask(setting_of([pod]).evictor, pod).reason is Reason.MISSING_UID


def test_known_answer_of_the_api_refuses_in_its_words() -> None:
    pod = make_pod("p")

    verdict = ask(setting_of([pod], answers={"default/p": EvictionAnswer(500, "no")}).evictor, pod)

    assert (verdict.reason, verdict.message) == (Reason.API_REFUSED, "no")


def test_pod_of_a_terminating_namespace_stays_as_the_api_refuses_its_eviction() -> None:
    pods = [make_pod("p", namespace=name) for name in ("going", "staying")]
    namespaces = [Namespace("going", {}, is_terminating=True), Namespace("staying", {})]
    setting = setting_of(pods, namespaces=namespaces)

    verdicts = [ask(setting.evictor, pod) for pod in pods]

    why = "namespace going is being deleted: the API server refuses evictions in it"
    assert [(verdict.reason, verdict.message) for verdict in verdicts] == [
        (Reason.NAMESPACE_TERMINATING, f"{why}, and a replacement pod is not created"),
        (None, ""),
    ]


def test_limits_are_asked_before_the_api() -> None:
    pod = make_pod("p")
    setting = setting_of([pod], RunLimits(per_node=0), answers={"default/p": EvictionAnswer(500, "no")})

    assert ask(setting.evictor, pod).limit is EvictionLimit.NODE


def test_second_pod_of_a_budget_for_one_stays() -> None:
    first, second = (make_pod(name, labels={"app": "x"}) for name in "pq")
    setting = setting_of([first, second], budgets=(make_budget("b", {"app": "x"}, disruptions_allowed=1),))

    verdicts = [ask(setting.evictor, pod).reason for pod in (first, second)]

    assert verdicts == [None, Reason.DISRUPTION_BUDGET]


def test_repeated_request_counts_again_and_is_marked_and_charges_its_budget_once() -> None:
    pod, other = (make_pod(name, labels={"app": "x"}) for name in "pq")
    setting = setting_of([pod, other], budgets=(make_budget("b", {"app": "x"}, disruptions_allowed=2),))

    verdicts = [ask(setting.evictor, asked).reason for asked in (pod, pod, other)]

    assert verdicts == [None, None, None]
    assert [move.is_repeated for move in setting.evictor.book.moves] == [False, True, False]
    assert setting.counters.total == 3


def test_last_check_is_only_asked_of_pods_that_no_other_keeps() -> None:
    spared, refused, free, late = (make_pod(name, labels={"app": name}) for name in ("b", "r", "f", "l"))
    question = Question(ACCEPTED)
    setting = setting_of(
        [spared, refused, free, late],
        RunLimits(total=1),
        question,
        budgets=(make_budget("b", {"app": "b"}, disruptions_allowed=0),),
        answers={"default/r": EvictionAnswer(500, "no")},
    )

    for pod in (spared, refused, free, late):
        ask(setting.evictor, pod)

    assert question.asked == ["f"]
    assert [move.pod.name for move in setting.evictor.book.moves] == ["f"]


def test_last_check_keeps_a_pod_as_an_attempt() -> None:
    pod = make_pod("p")
    setting = setting_of([pod], UNLIMITED, Question(refuse(Reason.NO_LANDING, "no room")))

    verdict = ask(setting.evictor, pod)

    assert verdict.reason is Reason.NO_LANDING
    assert [(refusal.verdict, refusal.is_attempt) for refusal in setting.evictor.book.refusals] == [(verdict, True)]


def test_first_reason_a_kept_candidate_gets_is_the_one_it_keeps() -> None:
    pod = make_pod("p")
    evictor = setting_of([pod]).evictor

    for reason in (Reason.BARE_POD, Reason.LOCAL_STORAGE):
        evictor.keep(pod, profile="p", plugin="PodLifeTime", verdict=refuse(reason, "stays"))

    assert [(r.verdict.reason, r.is_attempt) for r in evictor.book.refusals] == [(Reason.BARE_POD, False)]


class TestEvictionsInBackground:
    """Evictions that another controller carries out."""

    def make(self, pods: Sequence[Pod], limits: RunLimits = UNLIMITED, *, gate: bool = True) -> Setting:
        """An evictor whose API leaves every pod to the other controller."""
        answers = {pod.key: EVACUATION for pod in pods}
        return setting_of(pods, limits, answers=answers, evictions_in_background=gate)

    def test_accepted_one_counts_against_limits_and_is_no_eviction(self) -> None:
        first, second = (make_pod(name, annotations=REQUEST_ONLY) for name in "pq")
        evictor = self.make([first, second], RunLimits(per_node=1)).evictor

        limits = [ask(evictor, pod).limit for pod in (first, second)]

        assert limits == [None, EvictionLimit.NODE]
        assert not evictor.book.moves
        assert [move.pod for move in evictor.book.background] == [first]

    def test_asking_again_is_granted_without_counting(self) -> None:
        pod = make_pod("p", annotations=REQUEST_ONLY)
        evictor = self.make([pod], RunLimits(total=1)).evictor

        verdicts = [ask(evictor, pod).reason for _ in range(2)]

        assert verdicts == [None, None]
        assert evictor.num_background == 1

    def test_pods_found_in_progress_count_from_the_start(self) -> None:
        evictor = self.make([make_pod("p", annotations=IN_PROGRESS)], RunLimits(total=1)).evictor

        assert ask(evictor, make_pod("q")).limit is EvictionLimit.TOTAL

    def test_without_the_gate_the_answer_is_a_refusal(self) -> None:
        pod = make_pod("p", annotations=REQUEST_ONLY)

        assert ask(self.make([pod], gate=False).evictor, pod).reason is Reason.API_REFUSED

    def test_pod_that_does_not_ask_for_it_is_refused(self) -> None:
        pod = make_pod("p")

        assert ask(self.make([pod]).evictor, pod).reason is Reason.API_REFUSED
