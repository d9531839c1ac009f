"""Gangs keep the pods that they need, or move as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

import pytest

from descheduler.eviction.checks.gangs import GangCheck
from descheduler.model.groups.workloads import Workload
from descheduler.model.koordinator.gang_settings import POD_GROUP_LABEL, PodGroup
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.plan.moves import Move
from tests.builders import Object, make_node, make_pod, make_snapshot
from tests.eviction.checks.random_gangs import faults_of, make_world
from tests.eviction.runs import Run, bundle_of, make_run

POLICY: Object = {
    "apiVersion": "descheduler/v1alpha2",
    "kind": "DeschedulerConfiguration",
    "profiles": [
        {
            "name": "p",
            "pluginConfig": [
                {"name": "MigrationController", "args": {"skipCheckExpectedReplicas": True, "maxMigratingPerNode": 100}}
            ],
        }
    ],
}
UNVERIFIED: Object = {
    **POLICY,
    "profiles": [{**POLICY["profiles"][0], "plugins": {"filter": {"disabled": [{"name": "PlacementVerification"}]}}}],
}
GROUPS = "gang.scheduling.koordinator.sh/groups"
POLICY_KEY = "gang.scheduling.koordinator.sh/match-policy"


def member(name: str, gang: str = "train", **facts: Any) -> Pod:
    """A running pod of a gang, of an owner of its own that is not looked for."""
    labels = {POD_GROUP_LABEL: gang}
    return make_pod(
        name, **{"owners": [f"ReplicaSet/{name}"], "labels": labels, "scheduler": "koord-scheduler"} | facts
    )


def members(number: int, gang: str = "train") -> list[Pod]:
    """Running pods of a gang."""
    return [member(f"{gang}-{index}", gang) for index in range(number)]


def run_of(
    pods: Sequence[Pod],
    *groups: PodGroup,
    policy: Object = POLICY,
    prior_moves: Sequence[Move] = (),
    nodes: Sequence[Node] = (),
) -> Run:
    """A run over `nodes`, by default two with room for everything."""
    owners = {pod.owners[0].uid: pod.owners[0].name for pod in pods}
    workloads = {uid: Workload("ReplicaSet", "default", name, uid, 10) for uid, name in owners.items()}
    snapshot = make_snapshot(nodes or [make_node("a"), make_node("b")], pods, pod_groups=groups, workloads=workloads)
    return make_run(policy, snapshot, prior_moves=prior_moves)


def gang_reasons(run: Run, bundles: Iterable[Sequence[Pod]]) -> list[Reason | None]:
    """What the check of gangs says of each bundle, those that it lets go being charged."""
    check = next(each for each in run.checks if type(each).__name__ == "GangCheck")
    reasons = []
    for bundle in bundles:
        verdict = check.verdict(bundle_of(*bundle))
        reasons.append(verdict.reason)
        if verdict.is_accepted:
            check.charge(bundle_of(*bundle))
    return reasons


def test_member_goes_while_the_gang_has_more_than_it_needs() -> None:
    pods = members(4)
    run = run_of(pods, PodGroup("default", "train", 3))

    reasons = gang_reasons(run, [[pod] for pod in pods])

    assert reasons == [None, Reason.GANG_MINIMUM, Reason.GANG_MINIMUM, Reason.GANG_MINIMUM]


def test_last_member_is_not_the_whole_gang_while_replacements_of_others_have_to_start() -> None:
    pods = members(3)
    run = run_of(pods, PodGroup("default", "train", 1))

    reasons = gang_reasons(run, [[pod] for pod in pods])

    assert reasons == [None, None, Reason.GANG_MINIMUM]


def test_refusal_names_the_gang_and_its_figures() -> None:
    pods = members(4)
    run = run_of(pods, PodGroup("default", "train", 3), prior_moves=[Move(pods[0], "p", "q")])

    verdict = run.evictor.request(bundle_of(pods[1]))

    assert (verdict.reason, verdict.subject) == (Reason.GANG_MINIMUM, "default/train")
    assert verdict.message == (
        "gang default/train has 4 pods running, 1 of them already evicted by this run;"
        " it needs 3 (minMember), and 1 pod would be evicted (onGangMinimum: refuse)"
    )


def test_whole_gang_goes_at_once_but_not_a_part_of_it() -> None:
    pods = members(3)
    group = PodGroup("default", "train", 3)

    assert gang_reasons(run_of(pods, group), [pods[:2]]) == [Reason.GANG_MINIMUM]
    assert gang_reasons(run_of(pods, group), [pods]) == [None]


def test_group_of_gangs_goes_as_a_whole() -> None:
    first, second = members(2, "one"), members(2, "two")
    both = {GROUPS: '["default/one", "default/two"]'}
    groups = [PodGroup("default", name, 2, annotations=both) for name in ("one", "two")]

    assert gang_reasons(run_of([*first, *second], *groups), [first]) == [Reason.GANG_MINIMUM]
    assert gang_reasons(run_of([*first, *second], *groups), [[*first, *second]]) == [None]


def test_only_running_members_count() -> None:
    pods = members(2)
    others = [member("waiting", node=""), member("done", phase="Succeeded"), member("leaving", deleted=0)]
    run = run_of([*pods, *others], PodGroup("default", "train", 2))

    assert gang_reasons(run, [[others[1]], [pods[0]]]) == [None, Reason.GANG_MINIMUM]


def test_member_that_leaves_already_takes_nothing_of_what_may_go() -> None:
    pods, leaving = members(3), member("leaving", deleted=0)
    run = run_of([*pods, leaving], PodGroup("default", "train", 2))

    assert gang_reasons(run, [[leaving], [pods[0]], [pods[0]], [pods[1]]]) == [None, None, None, Reason.GANG_MINIMUM]


def starting(name: str) -> Pod:
    """A member on a node whose containers have not started."""
    return member(name, phase="Pending")


def test_pending_pod_that_is_bound_is_not_counted_as_running() -> None:
    pods = [*members(2), starting("starting")]

    reasons = gang_reasons(run_of(pods, PodGroup("default", "train", 2)), [[pods[0]], [pods[2]], [pods[1]]])

    assert reasons == [Reason.GANG_MINIMUM, None, Reason.GANG_MINIMUM]


def test_refusal_names_pods_that_are_bound_and_do_not_run() -> None:
    pods = [*members(2), starting("starting")]

    verdict = run_of(pods, PodGroup("default", "train", 2)).evictor.request(bundle_of(pods[0]))

    assert verdict.message == (
        "gang default/train has 2 pods running, 1 pod scheduled but not running;"
        " it needs 2 (minMember), and 1 pod would be evicted (onGangMinimum: refuse)"
    )


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        pytest.param(("one",), Reason.GANG_MINIMUM, id="a gang that starts is not taken apart"),
        pytest.param(("one", "two"), Reason.GANG_MINIMUM, id="nor a part of it"),
        pytest.param(("one", "two", "running"), None, id="it goes whole"),
    ],
)
def test_gang_that_has_not_started_yet_goes_whole_or_not_at_all(names: Sequence[str], expected: Reason | None) -> None:
    pods = {pod.name: pod for pod in (starting("one"), starting("two"), member("running"))}
    run = run_of(list(pods.values()), PodGroup("default", "train", 3))

    assert gang_reasons(run, [[pods[name] for name in names]]) == [expected]


def test_gang_that_moves_whole_takes_its_bound_pods_along() -> None:
    pods = [*members(2), starting("starting")]
    profile = POLICY["profiles"][0]
    configs = [*profile["pluginConfig"], {"name": "PlacementVerification", "args": {"onGangMinimum": "evictGang"}}]
    policy = {**POLICY, "profiles": [{**profile, "pluginConfig": configs}]}
    check = next(
        each
        for each in run_of(pods, PodGroup("default", "train", 2), policy=policy).checks
        if isinstance(each, GangCheck)
    )

    assert [pod.name for pod in check.mates(bundle_of(pods[0]))] == ["starting", "train-1"]


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param(
            {"labels": {f"{POD_GROUP_LABEL}/name": "g", f"{POD_GROUP_LABEL}/min-available": "2"}}, id="labels"
        ),
        pytest.param(
            {
                "labels": {},
                "annotations": {
                    "gang.scheduling.koordinator.sh/name": "g",
                    "gang.scheduling.koordinator.sh/min-available": "2",
                },
            },
            id="annotations",
        ),
    ],
)
def test_gang_without_a_pod_group_is_known_by_its_pods(facts: Object) -> None:
    pods = [member(name, **facts) for name in ("one", "two")]

    assert gang_reasons(run_of(pods), [pods[:1]]) == [Reason.GANG_MINIMUM]


def test_gang_that_nobody_describes_keeps_nobody() -> None:
    pods = members(1)

    assert gang_reasons(run_of(pods), [pods]) == [None]


def test_profile_that_verifies_no_landing_takes_any_pod() -> None:
    pods = members(3)

    assert gang_reasons(run_of(pods, PodGroup("default", "train", 3), policy=UNVERIFIED), [pods[:1]]) == [None]


def test_undone_eviction_does_not_count() -> None:
    pods = members(4)
    check = next(c for c in run_of(pods, PodGroup("default", "train", 3)).checks if type(c).__name__ == "GangCheck")

    check.charge(bundle_of(pods[0]))()

    assert check.verdict(bundle_of(pods[1])).is_accepted


@pytest.mark.long
def test_no_grant_leaves_a_gang_with_too_few_pods_in_random_worlds() -> None:
    worlds = [make_world(Random(f"suite/{number}")) for number in range(100)]

    assert {number: faults for number, world in enumerate(worlds) if (faults := faults_of(world))} == {}


@pytest.mark.parametrize(
    ("cpu", "expected"),
    [
        pytest.param("3", None, id="there is room for all of them"),
        pytest.param("2", Reason.NO_LANDING, id="one of them fits nowhere"),
    ],
)
def test_gang_whose_members_wait_for_each_other_moves_whole_or_stays(cpu: str, expected: Reason | None) -> None:
    pods = [member(f"m{index}", cpu="1") for index in range(3)]
    group = PodGroup("default", "train", 3, annotations={POLICY_KEY: "only-waiting"})
    run = run_of(pods, group, nodes=[make_node("a", unschedulable=True), make_node("b", cpu=cpu)])

    verdict = run.evictor.request(bundle_of(*pods))

    assert (verdict.reason, verdict.subject) == (expected, "default/train" if expected else "")
    landings = [run.evictor.landings.landing_of(pod) for pod in pods]
    assert [landing and landing.node for landing in landings] == ["b" if expected is None else None] * 3


def test_gang_of_which_one_more_is_left_is_not_taken_apart() -> None:
    """Four would leave the gang as many as it needs, and the replacement of one alone would wait for ever."""
    pods = [member(f"m{index}") for index in range(4)]
    group = PodGroup("default", "train", 3, annotations={POLICY_KEY: "only-waiting"})

    verdict = run_of(pods, group).evictor.request(bundle_of(pods[0]))

    assert (verdict.reason, verdict.subject) == (Reason.NO_LANDING, "default/train")
