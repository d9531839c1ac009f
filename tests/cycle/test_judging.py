"""Which moves of a plan still hold once they are judged together, and what is said of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.cycle.applying import PlanRefusedError, still_valid
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round
from descheduler.cycle.options import PlanToApply
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.verdict import Reason, refuse
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move, Refusal
from descheduler.policy.load import load_policy
from descheduler.report.plan.file import ClusterIdentity, PlanFile, make_plan_file
from tests.builders import NOW, make_node, make_pod, make_snapshot
from tests.report.decided_cycles import pod_life_time_policy

PODS = [make_pod(name, cpu="1") for name in ("one", "two", "three")]
SNAPSHOT = make_snapshot([make_node("a", unschedulable=True), make_node("b")], PODS)
POLICY = load_policy(pod_life_time_policy(), REGISTRY)
Change = Callable[[Decisions], Decisions]


def decided(moves: Sequence[Move]) -> Decisions:
    """What a run says of exactly these moves."""
    return decide(POLICY, SNAPSHOT, now=NOW, this_round=Round(chosen=moves))


def plan(bundles: Sequence[int] = (0, 0, 0)) -> PlanFile:
    """The plan to evict all three; pods of one number leave together."""
    decisions = decide(POLICY, SNAPSHOT, now=NOW)
    moves = {move.pod.name: move for move in decisions.moves}
    ordered = [replace(moves[pod.name], bundle=bundle) for pod, bundle in zip(PODS, bundles, strict=True)]
    return make_plan_file(replace(decisions, moves=tuple(ordered)), ClusterIdentity(server="", uid=""))


def judged(
    change: Change, *, allows_partial: bool = True, bundles: Sequence[int] = (0, 0, 0), file: PlanFile | None = None
) -> tuple[list[str], list[str]]:
    """The pods whose moves hold, and what is said of the others, where `change` is made of what a run says."""
    to_apply = PlanToApply(file or plan(bundles), timedelta(minutes=5), allows_partial)
    moves, left_out = still_valid(to_apply, SNAPSHOT, lambda moves: change(decided(moves)))
    return [move.pod.name for move in moves], [text.removeprefix("left out of the plan: ") for text in left_out]


def without(name: str, *refusals: Refusal, skipped: str = "") -> Change:
    """A pod is not evicted."""

    def change(decisions: Decisions) -> Decisions:
        moves = tuple(move for move in decisions.moves if move.pod.name != name)
        return replace(decisions, moves=moves, refusals=refusals, skipped=skipped)

    return change


def landing(name: str, verdict: LandingVerdict) -> Change:
    """The replacement of a pod is judged so."""

    def change(decisions: Decisions) -> Decisions:
        moves = [
            replace(move, landing=replace(move.landing, verdict=verdict, message="it is full"))
            if move.pod.name == name and move.landing is not None
            else move
            for move in decisions.moves
        ]
        return replace(decisions, moves=tuple(moves))

    return change


def refused(name: str, message: str) -> Refusal:
    pod = next(pod for pod in PODS if pod.name == name)
    return Refusal(pod, "main", "PodLifeTime", refuse(Reason.TOO_YOUNG, message), is_attempt=False)


@pytest.mark.parametrize(
    ("change", "held", "said"),
    [
        pytest.param(lambda decisions: decisions, ["one", "two", "three"], [], id="all hold"),
        pytest.param(without("two"), ["one", "three"], ["pod default/two: is not evicted any more"], id="one is gone"),
        pytest.param(
            without("two", refused("two", "it is young"), refused("one", "else")),
            ["one", "three"],
            ["pod default/two: it is young"],
            id="one is refused",
        ),
        pytest.param(
            landing("two", LandingVerdict.NO),
            ["one", "three"],
            ["pod default/two: its replacement can no longer be scheduled: it is full"],
            id="one has no node any more",
        ),
        pytest.param(landing("two", LandingVerdict.UNKNOWN), ["one", "two", "three"], [], id="one has perhaps no node"),
    ],
)
def test_moves_that_a_run_does_not_make_are_left_out(change: Change, held: list[str], said: list[str]) -> None:
    assert judged(change) == (held, said)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(without("two"), "pod default/two: is not evicted any more", id="a move"),
        pytest.param(
            lambda decisions: replace(decisions, moves=(), skipped="too few nodes"),
            "pod default/one: too few nodes",
            id="all of them",
        ),
    ],
)
def test_plan_is_refused_where_no_move_may_be_left_out(change: Change, said: str) -> None:
    with pytest.raises(PlanRefusedError) as raised:
        judged(change, allows_partial=False)

    assert f"\n  {said}\n" in str(raised.value)


def test_plan_of_which_nothing_is_left_is_refused() -> None:
    with pytest.raises(PlanRefusedError) as raised:
        judged(lambda decisions: replace(decisions, moves=()))

    assert "3 changes since it was made" in str(raised.value)
    assert "--allow-partial" not in str(raised.value)


def test_landing_that_was_refused_before_is_no_change() -> None:
    file = plan()
    moves = [
        replace(move, landing=None if move.landing is None else replace(move.landing, verdict="no"))
        for move in file.plan.moves
    ]
    known = replace(file, plan=replace(file.plan, moves=tuple(moves)))

    assert judged(landing("two", LandingVerdict.NO), file=known)[0] == ["one", "two", "three"]


def test_pods_that_leave_together_are_left_out_together() -> None:
    held, said = judged(without("two"), bundles=(1, 1, 0))

    assert (held, said) == (["three"], ["pod default/two: is not evicted any more"])


@pytest.mark.parametrize(("bundle", "held"), [(7, ["three"]), (0, ["one", "two", "three"])])
def test_moves_that_take_along_a_pod_of_no_plan_are_left_out(bundle: int, held: list[str]) -> None:
    """Pods one and two leave together by now, with another one where that is of their bundle."""
    mate = make_pod("mate", cpu="1")

    def change(decisions: Decisions) -> Decisions:
        if not any(move.pod.name == "one" for move in decisions.moves):
            return decisions
        moves = [replace(move, bundle=0 if move.pod.name == "three" else 7) for move in decisions.moves]
        return replace(decisions, moves=(*moves, Move(mate, "main", "PodLifeTime", bundle=bundle or 9)))

    found, said = judged(change)

    text = "pod default/mate would have to leave too, which is not in the plan"
    assert (found, said) == (held, [text, text] if bundle else [])


def test_repeated_moves_are_judged_once() -> None:
    def change(decisions: Decisions) -> Decisions:
        again: tuple[Any, ...] = tuple(replace(move, is_repeated=True) for move in decisions.moves)
        return replace(decisions, moves=(*decisions.moves, *again))

    assert judged(change) == (["one", "two", "three"], [])
