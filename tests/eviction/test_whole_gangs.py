"""Gangs that may not lose one pod move as a whole where the policy says so (`onGangMinimum: evictGang`), or stay."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from tests.builders import NOW, Object, make_budget
from tests.eviction.drained_gangs import policy_of, snapshot_of, train
from tests.eviction.runs import Run, make_run
from tests.placement.plugins.coscheduling.worlds import group_of, member


def decided(snapshot: Any, policy: Object | None = None) -> Decisions:
    """What a run comes to."""
    return decide(load_policy(policy or policy_of(), REGISTRY), snapshot, now=NOW)


def names(decisions: Decisions) -> list[str]:
    """The pods that leave."""
    return [move.pod.name for move in decisions.moves]


def test_gang_with_pods_on_a_drained_node_moves_whole_each_pod_once() -> None:
    decisions = decided(snapshot_of(train(), group_of("train", 3)))

    assert names(decisions) == ["m0", "m1", "m2"]
    assert {move.bundle for move in decisions.moves} == {1}
    assert [move.to_node for move in decisions.moves] == ["room"] * 3
    assert decisions.refusals == ()
    assert decisions.moves[2].reason == "has to leave together with default/m0, which is of the same gang"


@pytest.mark.parametrize("policy", ["once-satisfied", "only-waiting", "waiting-and-running"])
def test_gang_of_each_match_policy_moves_whole(policy: str) -> None:
    assert names(decided(snapshot_of(train(), group_of("train", 3, policy)))) == ["m0", "m1", "m2"]


def test_by_default_it_stays_and_the_refusal_names_the_way_out() -> None:
    decisions = decided(snapshot_of(train(), group_of("train", 3)), policy_of(""))

    assert names(decisions) == []
    assert [refusal.verdict.reason for refusal in decisions.refusals] == [Reason.GANG_MINIMUM] * 2
    assert all(refusal.verdict.message.endswith("(onGangMinimum: refuse)") for refusal in decisions.refusals)


def test_pods_above_the_minimum_go_alone() -> None:
    decisions = decided(snapshot_of(train(), group_of("train", 1, "waiting-and-running")))

    assert [(move.pod.name, move.bundle) for move in decisions.moves] == [("m0", 0), ("m1", 0)]


def test_gangs_of_a_group_move_together() -> None:
    pods = [member("a0", "a", node="drained"), member("b0", "b", node="kept"), member("c0", "c", node="kept")]
    groups = [group_of(name, 1, groups=("a", "b")) for name in ("a", "b")]

    assert names(decided(snapshot_of(pods, *groups, group_of("c", 1)))) == ["a0", "b0"]


@pytest.mark.parametrize(
    ("limits", "facts", "reason"),
    [
        pytest.param({}, {"room": 2}, Reason.NO_LANDING, id="of which one finds no room"),
        pytest.param({"maxNoOfPodsToEvictTotal": 2}, {}, Reason.LIMIT_REACHED, id="above the limit of the run"),
        pytest.param({"maxNoOfPodsToEvictPerNode": 1}, {}, Reason.LIMIT_REACHED, id="above the limit of a node"),
        pytest.param(
            {},
            {"budgets": (make_budget("b", {}, disruptions_allowed=2),)},
            Reason.DISRUPTION_BUDGET,
            id="above a budget",
        ),
    ],
)
def test_gang_stays_whole(limits: dict[str, Any], facts: dict[str, Any], reason: Reason) -> None:
    decisions = decided(snapshot_of(train(), group_of("train", 3), **facts), policy_of(**limits))

    assert names(decisions) == []
    assert [refusal.pod.name for refusal in decisions.refusals] == ["m0", "m1"]
    assert {refusal.verdict.reason for refusal in decisions.refusals} == {reason}
    assert len({refusal.verdict.message for refusal in decisions.refusals}) == 1


def test_limit_that_a_gang_is_too_large_for_leaves_room_for_others() -> None:
    other = member("other", "", node="drained")

    decisions = decided(snapshot_of([*train(), other], group_of("train", 3)), policy_of(maxNoOfPodsToEvictTotal=2))

    assert names(decisions) == ["other"]


class _Keeps:
    """A filter that lets no pod of a name go."""

    def __init__(self, name: str) -> None:
        self._name = name

    def filter(self, pod: Pod) -> Verdict:
        return refuse(Reason.BARE_POD, "no owner") if pod.name == self._name else ACCEPTED

    def pre_eviction_filter(self, pod: Pod) -> Verdict:
        return self.filter(pod)


def plugin_evictor(run: Run, keeps: str = "") -> PluginEvictor:
    """As a plugin of a profile whose filters keep a pod uses the evictor."""
    filters = [_Keeps(keeps)]
    return PluginEvictor(run.evictor, profile="p", plugin="q", filters=filters, pre_eviction_filters=filters)


def test_pod_of_it_that_a_filter_keeps_keeps_all() -> None:
    pods = train()
    run = make_run(policy_of(), snapshot_of(pods, group_of("train", 3)))

    verdict = plugin_evictor(run, keeps="m2").request(pods[0], "why")

    assert (verdict.reason, verdict.message) == (Reason.BARE_POD, "pod default/m2 has to stay: no owner")
    assert [refusal.pod.name for refusal in run.evictor.book.refusals] == ["m0"]
    assert run.evictor.book.moves == []


def test_grant_is_taken_back_whole() -> None:
    pods = train()
    run = make_run(policy_of(), snapshot_of(pods, group_of("train", 3)))
    evictor = plugin_evictor(run)
    before = run.state()

    with evictor.what_if():
        assert evictor.request(pods[0]).is_accepted
        assert evictor.request(pods[1]).is_accepted
        assert len(run.evictor.book.moves) == 3

    assert run.state() == before
    assert evictor.request(pods[1]).is_accepted
    assert [move.pod.name for move in run.evictor.book.moves] == ["m1", "m0", "m2"]


def test_refused_gang_is_judged_once_for_all_of_its_pods() -> None:
    pods = train(5)
    run = make_run(policy_of(), snapshot_of(pods, group_of("train", 5), room=3))
    evictor = plugin_evictor(run)

    verdicts = [evictor.request(pod) for pod in pods[:1]]
    num_judged = run.evictor.landings.num_judged
    verdicts += [evictor.request(pod) for pod in pods[1:4]]

    assert {verdict.reason for verdict in verdicts} == {Reason.NO_LANDING}
    assert run.evictor.landings.num_judged == num_judged


def test_replacement_of_a_pod_that_went_alone_takes_no_gang_along() -> None:
    pods = train(4)
    run = make_run(policy_of(), snapshot_of(pods, group_of("train", 3, "waiting-and-running")))
    evictor = plugin_evictor(run)
    assert evictor.request(pods[0]).is_accepted
    (arrival,) = run.handle.view.pods_on("room")

    verdict = evictor.request(arrival)

    assert verdict.reason is Reason.MISSING_UID
    assert [move.pod.name for move in run.evictor.book.moves] == ["m0"]
