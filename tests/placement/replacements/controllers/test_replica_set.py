"""ReplicaSets, ReplicationControllers and CloneSets replace at once what is missing; nobody knows about a surplus."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.replacements.answer import Returns
from tests.builders import Object, ago, owner, pod_object
from tests.placement.replacements.controllers.answers import answer
from tests.placement.workloads import workload_object

SURPLUS = "the owner has more pods than replicas, and can delete others instead"
GONE = "ReplicaSet web is scaled to 0 (replicas: 0)"


def pods(number: int, owner: str = "ReplicaSet/web", **facts: Any) -> list[Object]:
    return [pod_object(name, owners=[owner], **facts) for name in ("victim", "second", "third")[:number]]


def deployment(replicas: int, *, is_seen: bool = True) -> Object:
    """The Deployment `shop`; its controller has acted on its spec or not yet."""
    made = workload_object("Deployment/shop", replicas=replicas)
    made["metadata"]["generation"] = 2
    return made | {"status": {"observedGeneration": 2 if is_seen else 1}}


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController", "CloneSet"])
def test_pod_comes_at_once(kind: str) -> None:
    made = answer(*pods(2, f"{kind}/web"), workload_object(f"{kind}/web", replicas=2))

    assert (made.returns, made.is_early, made.doubt) == (Returns.AT_ONCE, True, "")


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController", "CloneSet"])
def test_nobody_knows_which_pods_of_a_surplus_go(kind: str) -> None:
    assert answer(*pods(3, f"{kind}/web"), workload_object(f"{kind}/web", replicas=2)).doubt == SURPLUS


def test_replica_set_that_is_scaled_to_zero_creates_nothing() -> None:
    assert answer(*pods(2), workload_object("ReplicaSet/web", replicas=0)).returns is Returns.NOT_CREATED


def test_replica_set_of_an_earlier_rollout_creates_nothing() -> None:
    scaled_down = workload_object("ReplicaSet/web", replicas=0, deployment="shop")

    assert answer(*pods(2), scaled_down, deployment(3)).returns is Returns.NOT_CREATED


@pytest.mark.parametrize(
    ("made", "cause"),
    [
        pytest.param(deployment(3, is_seen=False), "", id="it is scaled up again, or rolls back"),
        pytest.param(deployment(0, is_seen=False), GONE, id="it is scaled to 0"),
        pytest.param(deployment(0), GONE, id="it was scaled to 0"),
    ],
)
def test_replica_set_without_replicas_may_get_some_where_its_deployment_has_just_been_changed(
    made: Object, cause: str
) -> None:
    found = answer(*pods(2), workload_object("ReplicaSet/web", replicas=0, deployment="shop"), made)

    assert (found.cause, found.doubt) == (cause, "" if cause else SURPLUS)


def test_replicas_of_the_deployment_count_before_those_of_its_replica_set() -> None:
    replica_set = workload_object("ReplicaSet/web", replicas=3, deployment="shop")

    deployments = deployment(3), deployment(3, is_seen=False), deployment(2, is_seen=False)
    seen, kept, lowered = (answer(*pods(3), replica_set, each) for each in deployments)

    assert (seen.doubt, kept.doubt, lowered.doubt) == ("", "", SURPLUS)


def test_replica_set_that_was_scaled_by_hand_is_set_back() -> None:
    replica_set = workload_object("ReplicaSet/web", replicas=2, deployment="shop")
    replica_set["metadata"]["generation"] = 2
    replica_set["status"] = {"observedGeneration": 1}

    assert answer(*pods(3), replica_set, deployment(3)).doubt == ""
    other = workload_object("ReplicaSet/other", replicas=1, deployment="shop")
    assert answer(*pods(3), replica_set, other, deployment(3)).doubt == SURPLUS


def test_replica_set_of_a_deployment_that_is_being_deleted_leaves_a_doubt() -> None:
    going = deployment(2)
    going["metadata"]["deletionTimestamp"] = ago(1)

    made = answer(*pods(2), workload_object("ReplicaSet/web", replicas=2, deployment="shop"), going)

    assert made.doubt == "the Deployment is being deleted, and its ReplicaSet may replace the pod before that"


def test_finished_pod_was_replaced_before() -> None:
    finished = pod_object("victim", phase="Failed")

    seen = answer(finished, pod_object("second"), workload_object("ReplicaSet/web", replicas=1))
    unseen = answer(finished, workload_object("ReplicaSet/web", replicas=1))

    assert (seen.returns, unseen.returns) == (Returns.NOT_CREATED, Returns.AT_ONCE)


def test_replica_set_whose_deployment_is_gone_leaves_a_doubt_where_deployments_were_read() -> None:
    replica_set = workload_object("ReplicaSet/web", replicas=2, deployment="gone")
    other = workload_object("Deployment/other", replicas=1)

    assert "Deployment" in answer(*pods(2), replica_set, other).doubt
    assert answer(*pods(2), replica_set).doubt == ""
    assert answer(*pods(2), workload_object("ReplicaSet/web", replicas=2), other).doubt == ""


@pytest.mark.parametrize(
    "reference",
    [owner("Rollout/shop"), owner("Deployment/shop", controller=False)],
    ids=["another controller", "an owner that is not its controller"],
)
def test_end_of_a_deployment_is_no_doubt_where_it_does_not_control_the_replica_set(reference: Object) -> None:
    replica_set, going = workload_object("ReplicaSet/web", replicas=2), deployment(2)
    replica_set["metadata"]["ownerReferences"] = [reference]
    gone = workload_object("Deployment/other", replicas=1)
    going["metadata"]["deletionTimestamp"] = ago(1)

    assert [answer(*pods(2), replica_set, each).doubt for each in (going, gone)] == ["", ""]
