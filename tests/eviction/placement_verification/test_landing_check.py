"""What keeps a pod or a bundle because of where its replacements land, by what the arguments say."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move
from tests.builders import Object, make_node, make_pod, make_snapshot
from tests.eviction.runs import Run, bundle_of, make_run


def policy_of(*, balance: bool = False, **verification: Any) -> Object:
    """A profile that verifies landings, with plugin `PodLifeTime`, or `RemoveDuplicates` where it is to `balance`."""
    plugin, point = ("RemoveDuplicates", "balance") if balance else ("PodLifeTime", "deschedule")
    args: Object = {} if balance else {"maxPodLifeTimeSeconds": 60}
    profile: Object = {
        "name": "p",
        "pluginConfig": [{"name": plugin, "args": args}, {"name": "PlacementVerification", "args": verification}],
        "plugins": {point: {"enabled": [plugin]}, "preevictionfilter": {"enabled": ["PlacementVerification"]}},
    }
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}


def sized(**sizes: float) -> list[Pod]:
    """Pods on node `a`, each of an owner of its own, by their CPUs."""
    return [make_pod(name, owners=[f"ReplicaSet/{name}"], cpu=str(cpu)) for name, cpu in sizes.items()]


def run_of(pods: list[Pod], rooms: tuple[float, ...], *, closed: bool = True, policy: Object | None = None) -> Run:
    """A run over pods of node `a`, which is closed, and nodes of these sizes."""
    nodes = [make_node("a", cpu="16", unschedulable=closed)]
    nodes += [make_node(f"n{index}", cpu=str(cpu)) for index, cpu in enumerate(rooms)]
    workloads = [Workload("ReplicaSet", "default", pod.name, f"replicaset-{pod.name}", 10) for pod in pods]
    snapshot = make_snapshot(nodes, pods, workloads={each.uid: each for each in workloads})
    return make_run(policy or policy_of(), snapshot)


@pytest.mark.parametrize(
    ("names", "rooms", "args", "reason"),
    [
        pytest.param("ab", (1, 4), {}, None, id="in every order there is room"),
        pytest.param("ab", (1, 3), {}, Reason.CONDITIONAL_LANDING, id="in the other order there is none"),
        pytest.param("ab", (1, 3), {"onConditional": "allow"}, None, id="which the policy allows"),
        pytest.param("ba", (1, 3), {}, Reason.NO_LANDING, id="in this order there is none"),
        pytest.param("ba", (1, 3), {"onConditional": "allow"}, Reason.NO_LANDING, id="whatever the policy allows"),
        pytest.param("ab", (1, 1), {}, Reason.NO_LANDING, id="there is none at all"),
    ],
)
def test_pods_that_leave_together_have_to_land_so(
    names: str, rooms: tuple[int, ...], args: dict[str, Any], reason: Reason | None
) -> None:
    pods = {pod.name: pod for pod in sized(a=3, b=1)}

    verdict = run_of(list(pods.values()), rooms, policy=policy_of(**args)).evictor.request(
        bundle_of(*(pods[name] for name in names))
    )

    assert verdict.reason is reason


@pytest.mark.parametrize("setting", ["", "allow", "refuse", "refuseBalance"])
@pytest.mark.parametrize("balance", [False, True])
def test_pod_that_would_return_stays_where_the_policy_says_so(setting: str, balance: bool) -> None:
    policy = policy_of(balance=balance, **({"onReturnToSource": setting} if setting else {}))
    (pod,) = sized(web=4)
    run = run_of([pod], (1,), closed=False, policy=policy)

    verdict = run.evictor.request(bundle_of(pod, plugin="RemoveDuplicates" if balance else "PodLifeTime"))

    stays = setting == "refuse" or (balance and setting != "allow")
    assert verdict.reason is (Reason.RETURNS_TO_SOURCE if stays else None)
    if stays:
        told = f"the replacement pod would be scheduled onto a again (onReturnToSource: {setting or 'refuseBalance'})"
        assert (verdict.message.partition(";")[0], verdict.subject) == (told, "a")


@pytest.mark.parametrize(
    ("target", "rooms", "reason", "subject"),
    [
        pytest.param("n0", (4, 1), None, "", id="where it goes"),
        pytest.param("", (4, 1), None, "", id="nowhere in particular"),
        pytest.param("n1", (4, 1), Reason.OTHER_LANDING, "n0", id="where there is no room"),
        pytest.param("n1", (4, 4), None, "", id="to one of two alike"),
    ],
)
def test_candidate_goes_where_it_is_meant_to(
    target: str, rooms: tuple[int, ...], reason: Reason | None, subject: str
) -> None:
    (pod,) = sized(web=2)

    verdict = run_of([pod], rooms).evictor.request(bundle_of(pod, target_node=target))

    assert (verdict.reason, verdict.subject) == (reason, subject)


@pytest.mark.parametrize(("labels", "granted"), [({"wait": "yes"}, True), ({"wait": "no"}, False), ({}, False)])
def test_disposable_pod_may_go_though_its_replacement_stays_pending(labels: dict[str, str], granted: bool) -> None:
    pod = make_pod("web", owners=["ReplicaSet/web"], cpu="8", labels=labels)
    policy = policy_of(disposablePods={"matchLabels": {"wait": "yes"}})

    assert run_of([pod], (1,), policy=policy).evictor.request(bundle_of(pod)).is_accepted is granted


@pytest.mark.parametrize(("setting", "granted"), [({}, False), ({"onUnknown": "allow"}, True)])
def test_pod_whose_replacement_is_unknown_goes_where_the_policy_allows_it(
    setting: dict[str, Any], granted: bool
) -> None:
    pod = make_pod("web", owners=["ReplicaSet/web"], cpu="1", scheduler="acme-scheduler")

    verdict = run_of([pod], (4,), policy=policy_of(**setting)).evictor.request(bundle_of(pod))

    assert verdict.reason is (None if granted else Reason.UNKNOWN_LANDING)


def test_pod_for_which_none_is_created_is_not_looked_up() -> None:
    pod = make_pod("web", owners=(), cpu="8")

    assert run_of([], (1,)).evictor.request(bundle_of(pod)).reason is not Reason.NO_LANDING


def test_room_is_taken_once_by_a_pod_that_is_asked_for_again() -> None:
    first, second = sized(first=2, second=2)
    run = run_of([first, second], (4,))

    reasons = [run.evictor.request(bundle_of(pod)).reason for pod in (first, first, second)]

    assert reasons == [None, None, None]


def test_room_comes_back_with_the_grant() -> None:
    first, second = sized(first=3, second=3)
    run = run_of([first, second], (4,))

    granted = [run.evictor.request(bundle_of(first)).reason, run.evictor.request(bundle_of(second)).reason]
    run.evictor.undo()

    assert granted[0] is None
    assert run.evictor.request(bundle_of(second)).is_accepted


@pytest.mark.parametrize("profile", ["p", "other"])
def test_replacements_of_earlier_rounds_take_their_room(profile: str) -> None:
    """What a profile that is not there has evicted is taken to be scheduled by the default scheduler as well."""
    first, second = sized(first=3, second=3)
    nodes = [make_node("a", cpu="16", unschedulable=True), make_node("n0", cpu="4")]
    workloads = [Workload("ReplicaSet", "default", pod.name, f"replicaset-{pod.name}", 10) for pod in (first, second)]
    snapshot = make_snapshot(nodes, [first, second], workloads={each.uid: each for each in workloads})

    run = make_run(policy_of(), snapshot, prior_moves=[Move(first, profile, "q")])

    assert run.evictor.request(bundle_of(second)).reason is Reason.NO_LANDING


def test_bundle_with_room_held_for_each_needs_no_order() -> None:
    a, b = sized(a=3, b=1)
    bundle = Bundle(
        "p",
        "q",
        (Candidate(a, target_node="n1", holds_target=True), Candidate(b, target_node="n0", holds_target=True)),
    )

    assert run_of([a, b], (1, 3)).evictor.request(bundle).is_accepted
