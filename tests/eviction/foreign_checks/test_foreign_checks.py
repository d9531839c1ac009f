"""Checks of others take part like the program's own: in their place in the order, with undo, and over rounds."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.checks.table import REQUEST_CHECKS, MakeCheck
from descheduler.eviction.request_check import PodByPod
from descheduler.eviction.undo import Undo
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Verdict
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.policy.load import load_policy
from tests.builders import NOW, ago, make_node, make_pod, make_snapshot
from tests.eviction.foreign_checks import cooldown, gang
from tests.eviction.foreign_checks.cooldown import MOVED_AT
from tests.eviction.foreign_checks.gang import GANG
from tests.eviction.runs import Run, bundle_of, make_run
from tests.report.decided_cycles import pod_life_time_policy

NODES = [make_node("a"), make_node("b")]


def table_with(row: MakeCheck) -> tuple[MakeCheck, ...]:
    """The program's own table with one more row, before the proof of landing."""
    return (*REQUEST_CHECKS[:-1], row, REQUEST_CHECKS[-1])


def decided(pods: list[Pod], row: MakeCheck, *, prior: tuple[Pod, ...] = (), **limits: Any) -> Decisions:
    """A run in which every pod is too old."""
    moves = [Move(pod, "main", "PodLifeTime") for pod in prior]
    policy = load_policy(pod_life_time_policy(**limits), REGISTRY)
    return decide(
        policy, make_snapshot(NODES, pods), now=NOW, this_round=Round(checks=table_with(row), prior_moves=moves)
    )


def run_with(row: MakeCheck, pods: list[Pod]) -> Run:
    """An evictor that asks the row among its own checks."""
    return make_run(pod_life_time_policy(), make_snapshot(NODES, pods), table=table_with(row))


def replicas(*names: str, **facts: Any) -> list[Pod]:
    """Pods of ReplicaSet `web`."""
    return [make_pod(name, **facts) for name in names]


def test_every_workload_gives_one_pod() -> None:
    other = make_pod("other", owners=["ReplicaSet/other"])

    decisions = decided([*replicas("one", "two"), other], cooldown.row)

    assert [move.pod.name for move in decisions.moves] == ["one", "other"]
    assert [(r.pod.name, r.verdict.subject, r.is_attempt) for r in decisions.refusals] == [
        ("two", "ReplicaSet web", True)
    ]


def test_workload_that_moved_in_an_earlier_round_or_run_stays() -> None:
    (gone, left) = replicas("one", "two")
    recent = make_pod("recent", owners=["ReplicaSet/other"])
    recent = msgspec.structs.replace(recent, annotations={MOVED_AT: ago(60)})

    decisions = decided([gone, left, recent], cooldown.row, prior=(gone,))

    assert [move.pod.name for move in decisions.moves] == ["one"]
    assert [refusal.pod.name for refusal in decisions.refusals] == ["recent", "two"]


def test_what_another_check_refuses_uses_no_cooldown_up() -> None:
    decisions = decided(replicas("one", "two"), cooldown.row, maxNoOfPodsToEvictTotal=0)

    assert {refusal.verdict.code for refusal in decisions.refusals} == {"LimitReached"}


def test_cooldown_is_given_back_with_the_grant() -> None:
    one, two = replicas("one", "two")
    run = run_with(cooldown.row, [one, two])
    before = run.state()

    verdicts = [run.evictor.request(bundle_of(pod)).is_accepted for pod in (one, two)]
    run.evictor.undo()
    verdicts.append(run.evictor.request(bundle_of(two)).is_accepted)
    run.evictor.undo()

    assert verdicts == [True, False, True]
    assert run.state() == before


def test_gang_moves_as_a_bundle_alone() -> None:
    pods = replicas("one", "two", labels={GANG: "g"})
    run = run_with(gang.row, pods)

    verdicts = [run.evictor.request(bundle_of(*bundle)).is_accepted for bundle in (pods[:1], pods[1:], pods)]

    assert verdicts == [False, False, True]


def test_rest_of_a_gang_follows_what_an_earlier_round_evicted() -> None:
    one, two = replicas("one", "two", labels={GANG: "g"})

    decisions = decided([one, two], gang.row, prior=(one,))

    assert [move.pod.name for move in decisions.moves] == ["one", "two"]


class Failing(PodByPod):
    """A check at fault: it lets every pod go and then cannot count it."""

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Yes."""
        del candidate, bundle
        return ACCEPTED

    def take(self, candidate: Candidate, bundle: Bundle) -> Undo:
        """Fails."""
        raise ZeroDivisionError(f"{bundle.plugin} {candidate.pod.key}")


def test_check_that_fails_leaves_nothing_charged() -> None:
    (pod,) = replicas("one")
    run = run_with(lambda _: Failing(), [pod])
    before = run.state()

    with pytest.raises(ZeroDivisionError):
        run.evictor.request(bundle_of(pod))

    assert run.state() == before
