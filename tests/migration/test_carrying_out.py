"""When a run decides again, with which answers, and what of the new decision is carried out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from msgspec.structs import replace

from descheduler.eviction.background import BACKGROUND_TEXT, Answers
from descheduler.eviction.checks.limits import RunLimits
from descheduler.kube.evict import EvictionResponse
from descheduler.migration.dispatch.limits import LimitLedger
from descheduler.migration.dispatch.surroundings import HALTED
from descheduler.migration.rounds import carry_out
from descheduler.migration.settings import DispatchSettings, EvictionTerms
from descheduler.model.pod import REQUEST_EVICT_ONLY_ANNOTATION
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction
from descheduler.policy.types import Policy
from tests.builders import NOW, make_pod, make_snapshot
from tests.migration.stand_ins import ONE_BY_ONE, Heard, ScriptedApi, around, no_disruption, not_sent

DONE, BUDGET = OutcomeCode.DONE, OutcomeCode.BUDGET


def move(name: str, profile: str = "p", **facts: Any) -> Move:
    pod = facts.pop("pod", None) or make_pod(name, namespace="shop", uid=f"uid-{name}")
    return Move(pod, profile, "Plugin", **facts)


class Deciding:
    """Decides on these moves, round after round; keeps what it was told."""

    def __init__(self, *rounds: Sequence[Move]) -> None:
        self._rounds = list(rounds)
        self.answers: list[dict[str, int]] = []
        """Codes of refusals by pod, a round each."""
        self.left: list[list[str]] = []
        """Names of the pods that have left before, a round each."""

    def __call__(self, answers: Answers, prior_moves: Sequence[Move]) -> Decisions:
        """The next decision."""
        self.answers.append({key: answer.code for key, answer in answers.items()})
        self.left.append([each.pod.name for each in prior_moves])
        moves = self._rounds.pop(0) if self._rounds else ()
        return Decisions(cast(Policy, None), make_snapshot(), NOW, moves=tuple(moves))


class Jobs:
    """Carries evictions of these pods out as jobs, with this end."""

    def __init__(self, *names: str, kind: OutcomeKind = OutcomeKind.EVICTED, code: OutcomeCode = DONE) -> None:
        self._names = names
        self._ending = kind, code
        self.executed: list[list[str]] = []
        self.rooms: list[bool] = []
        """Whether the limits had room for one more."""

    def takes(self, eviction: PlannedEviction) -> bool:
        """Those."""
        return eviction.name in self._names

    def execute(self, evictions: Sequence[PlannedEviction], ledger: LimitLedger) -> tuple[Outcome, ...]:
        """Their end."""
        self.executed.append([each.name for each in evictions])
        self.rooms.append(ledger.room_for(evictions[0])[1] == "")
        return tuple(Outcome(each, *self._ending, "") for each in evictions)


def carried_out(
    deciding: Deciding,
    api: ScriptedApi | None = None,
    settings: DispatchSettings = ONE_BY_ONE,
    *,
    jobs: Jobs | None = None,
    stop: threading.Event | None = None,
    sink: Heard | None = None,
    halted: Callable[[], Any] | None = None,
) -> dict[str, OutcomeCode]:
    there = around(settings, stop=stop, sink=sink)
    there = there if halted is None else replace(there, halted=halted)
    _, outcomes = carry_out(deciding, api or ScriptedApi(), settings, there, jobs)
    return {outcome.eviction.name: outcome.code for outcome in outcomes}


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        pytest.param(no_disruption(), 429, id="a budget"),
        pytest.param(EvictionResponse(404), 404, id="the pod is gone"),
        pytest.param(EvictionResponse(400), 400, id="a fault"),
    ],
)
def test_refusal_is_an_answer_of_the_next_decision(answer: EvictionResponse, code: int) -> None:
    deciding = Deciding([move("a"), move("b")], [move("a"), move("c")])

    codes = carried_out(deciding, ScriptedApi(b=[answer] * 9))

    assert deciding.answers == [{}, {"shop/b": code}]
    assert deciding.left == [[], ["a"]]
    assert (codes["a"], codes["c"]) == (DONE, DONE)


@pytest.mark.parametrize(
    ("answer", "is_decided_again"),
    [
        pytest.param(EvictionResponse(201), False, id="all have left"),
        pytest.param(no_disruption(), True, id="one stays"),
        pytest.param(not_sent(), False, id="nothing reaches the server"),
    ],
)
def test_run_decides_again_where_that_may_help(answer: EvictionResponse, *, is_decided_again: bool) -> None:
    deciding = Deciding([move("a")])
    carried_out(deciding, ScriptedApi(a=[answer] * 99))

    assert len(deciding.answers) == 1 + is_decided_again


@pytest.mark.parametrize("why", [OutcomeCode.STOPPED, OutcomeCode.LEASE_LOST, OutcomeCode.DEADLINE])
def test_run_that_is_over_does_not_decide_again(why: OutcomeCode) -> None:
    over = list[tuple[OutcomeCode, str]]()
    api = ScriptedApi(a=[no_disruption()])
    api.before_answer = lambda name: over.append((why, HALTED[why]))
    deciding = Deciding([move("a")], [move("b")])

    carried_out(deciding, api, halted=lambda: next(iter(over), None))

    assert len(deciding.answers) == (2 if why is OutcomeCode.DEADLINE else 1)


def test_pod_that_another_controller_evicts_is_known_to_the_next_decision() -> None:
    vm = make_pod("vm", namespace="shop", uid="uid-vm", annotations={REQUEST_EVICT_ONLY_ANNOTATION: ""})
    deciding = Deciding([move("vm", pod=vm), move("b")], [])
    settings = replace(ONE_BY_ONE, evictions_in_background=True)

    carried_out(deciding, ScriptedApi(vm=[EvictionResponse(429, "", BACKGROUND_TEXT)], b=[no_disruption()]), settings)

    assert deciding.answers[1] == {"shop/vm": 429, "shop/b": 429}
    assert deciding.left[1] == ["vm"]


def test_pod_that_a_job_has_handed_over_was_refused_by_nobody() -> None:
    jobs = Jobs("a", kind=OutcomeKind.BACKGROUND, code=OutcomeCode.HANDED_OVER)
    deciding = Deciding([move("a"), move("b")], [])

    carried_out(deciding, ScriptedApi(b=[no_disruption()]), jobs=jobs)

    assert (deciding.answers[1], deciding.left[1]) == ({"shop/b": 429}, ["a"])


def test_jobs_are_carried_out_after_the_rest_within_the_same_limits() -> None:
    jobs = Jobs("a")
    settings = replace(ONE_BY_ONE, limits=RunLimits(total=1))

    codes = carried_out(Deciding([move("a"), move("b")]), settings=settings, jobs=jobs)

    assert (list(codes), jobs.executed, jobs.rooms) == (["b", "a"], [["a"]], [False])


def test_jobs_are_not_asked_where_there_are_none() -> None:
    jobs = Jobs("other")
    carried_out(Deciding([move("a")]), jobs=jobs)

    assert jobs.executed == []


DRY = {"dry": EvictionTerms(is_dry=True)}


def test_pod_of_a_dry_profile_is_evicted_once_another_one_wants_it() -> None:
    deciding = Deciding([move("a", "dry"), move("b")], [move("a", "dry"), move("c")], [move("a")])
    api = ScriptedApi(b=[no_disruption()], c=[no_disruption()])

    codes = carried_out(deciding, api, replace(ONE_BY_ONE, terms=DRY))

    assert codes == {"a": DONE, "b": BUDGET, "c": BUDGET}
    assert api.names == ["b", "c", "a"]


def test_pods_of_a_bundle_that_stayed_whole_may_leave_later() -> None:
    gang = [move("a", bundle=1), move("b", bundle=1)]
    deciding = Deciding(gang, [move("b")])

    assert carried_out(deciding, ScriptedApi(a=[no_disruption()])) == {"a": BUDGET, "b": DONE}


def test_repeated_request_is_no_second_eviction() -> None:
    api = ScriptedApi()
    carried_out(Deciding([move("a"), move("a", is_repeated=True)]), api)

    assert api.names == ["a"]


@pytest.mark.parametrize(("of_profile", "of_run", "sent"), [(None, None, None), (None, 5, 5), (0, 5, 0), (7, None, 7)])
def test_grace_period_is_that_of_the_profile_or_else_of_the_policy(
    of_profile: int | None, of_run: int | None, sent: int | None
) -> None:
    api = ScriptedApi()
    terms = {"p": EvictionTerms(grace_period_seconds=of_profile)}

    carried_out(Deciding([move("a")]), api, replace(ONE_BY_ONE, grace_period_seconds=of_run, terms=terms))

    assert [seconds for _, _, seconds, _ in api.requests] == [sent]


def test_listeners_hear_how_many_evictions_there_are_in_all() -> None:
    sink = Heard()
    deciding = Deciding([move("a"), move("b")], [move("a"), move("c")])

    carried_out(deciding, ScriptedApi(b=[no_disruption()]), sink=sink)

    assert sink.plans == [2, 3]
