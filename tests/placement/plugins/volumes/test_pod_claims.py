"""The claims behind a pod's volumes: whose they are, and which pods bear on each other through them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.model.volume_sources import PersistentVolumeClaim
from descheduler.placement.framework.interactions import GatheredPods, Meetings
from descheduler.placement.framework.obstacle import Code
from descheduler.placement.plugins.volumes.pod_claims import (
    ClaimInteractions,
    NewVolumeInteractions,
    PodClaim,
    PodClaims,
    claims_of,
    is_read,
    not_found,
)
from tests.builders import NOW, make_node, make_pod, make_snapshot
from tests.placement.clusters import make_cluster
from tests.placement.plugins.volumes.storage import ephemeral, make_claim, make_class, make_storage, new_pod

NODES = [make_node("a")]
OWNED = make_claim("old-scratch", owner_uid="uid-old")
OLD = make_pod("old", uid="uid-old", volumes=[ephemeral()])


def claims(pod: Pod, *there: PersistentVolumeClaim, pods: tuple[Pod, ...] = (), **others: Any) -> tuple[PodClaim, ...]:
    """What a pod's volumes claim in a cluster with the claims that are `there`."""
    return PodClaims(make_cluster(NODES, pods, **make_storage(claims=there, **others))).of(pod)


def told(pod: Pod, *there: PersistentVolumeClaim, **others: Any) -> list[tuple[str, bool, bool, bool]]:
    """The same as name, and whether there is a claim, it is new, and it is somebody else's."""
    found = claims(pod, *there, **others)
    return [(each.name, each.claim is not None, each.is_new, each.is_foreign) for each in found]


@pytest.mark.parametrize(
    ("pod", "there", "expected"),
    [
        pytest.param(new_pod("data"), [make_claim("data")], ("data", True, False, False), id="a claim"),
        pytest.param(new_pod("data"), [], ("data", False, False, False), id="no claim"),
        pytest.param(OLD, [OWNED], ("old-scratch", True, False, False), id="a claim made for the pod"),
        pytest.param(OLD, [], ("old-scratch", False, False, False), id="a claim not made yet"),
        pytest.param(
            OLD, [make_claim("old-scratch", owner_uid="uid-x")], ("old-scratch", True, False, True), id="another's"
        ),
        pytest.param(
            OLD, [make_claim("old-scratch")], ("old-scratch", True, False, True), id="a claim that nobody owns"
        ),
        pytest.param(
            new_pod(uid="", volumes=[ephemeral()]), [], ("new-scratch", True, True, False), id="a pod yet to be made"
        ),
        pytest.param(
            new_pod(uid="", volumes=[ephemeral()]),
            [make_claim("new-scratch", owner_uid="uid-x")],
            ("new-scratch", True, False, True),
            id="a pod yet to be made, and the claim of its predecessor",
        ),
    ],
)
def test_volume_has_the_claim_that_is_its_pods(
    pod: Pod, there: list[PersistentVolumeClaim], expected: tuple[str, bool, bool, bool]
) -> None:
    assert told(pod, *there) == [expected]


def test_claim_of_a_pod_that_has_left_goes_with_it() -> None:
    cluster = make_cluster(NODES, [OLD], **make_storage(claims=[OWNED]))
    successor = make_pod("old", node="", uid="", volumes=[ephemeral()])
    found = PodClaims(cluster)
    before = found.of(successor)

    cluster.remove(OLD)

    assert [each.is_foreign for each in before] == [True]
    assert [(each.is_new, each.is_foreign) for each in found.of(successor)] == [(True, False)]


def test_pod_that_is_placed_has_the_claims_that_it_had() -> None:
    cluster = make_cluster(NODES, [OLD], **make_storage(claims=[OWNED]))
    found = PodClaims(cluster)
    coming = make_pod("old", node="", uid="", volumes=[ephemeral()])

    cluster.remove(OLD)

    assert [each.claim for each in found.of_placed(OLD)] == [OWNED]
    assert [each.is_new for each in found.of_placed(coming)] == [True]
    assert found.of_placed(new_pod("data")) == (PodClaim("data", None),)


def test_claims_come_in_the_order_of_volumes() -> None:
    def named(name: str) -> dict[str, Any]:
        return {"name": name, "persistentVolumeClaim": {"claimName": name}}

    pod = new_pod(volumes=[ephemeral("w"), named("x"), ephemeral("y"), named("z")])

    assert [each.name for each in claims(pod)] == ["new-w", "x", "new-y", "z"]


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        pytest.param(None, "newest", id="the newest default"),
        pytest.param("", "", id="none at all"),
        pytest.param("slow", "slow", id="the one that is named"),
    ],
)
def test_claim_yet_to_be_made_gets_the_class_that_the_api_server_gives_it(stated: str | None, expected: str) -> None:
    classes = [
        make_class("aged", is_default=True, created_at=NOW - timedelta(days=2)),
        make_class("newest", is_default=True, created_at=NOW - timedelta(days=1)),
        make_class("other", created_at=NOW),
        make_class("undated", is_default=True),
    ]
    pod = new_pod(uid="", volumes=[ephemeral(storage_class=stated, storage="7")])

    (found,) = claims(pod, classes=classes)

    assert found.claim is not None
    assert (found.claim.storage_class, found.claim.request_bytes) == (expected, 7)


def test_claims_of_others_and_missing_ones_are_left_out() -> None:
    cluster = make_cluster(NODES, **make_storage(claims=[make_claim("data"), make_claim("new-scratch")]))

    assert [each.name for each in claims_of(new_pod("data", "gone", volumes=[ephemeral()]), cluster)] == ["data"]


@pytest.mark.parametrize(
    ("kinds", "is_known"),
    [
        pytest.param(frozenset[str](), True, id="a snapshot made by hand"),
        pytest.param(frozenset({"PersistentVolumeClaim"}), True, id="a kind that was read"),
        pytest.param(frozenset({"Pod"}), False, id="a kind that was not read"),
    ],
)
def test_object_is_missing_where_its_kind_was_read(kinds: frozenset[str], is_known: bool) -> None:
    snapshot = make_snapshot(kinds=kinds)

    assert is_read(snapshot, "PersistentVolumeClaim") is is_known
    found = not_found(snapshot, "VolumeZone", "PersistentVolumeClaim", "data")
    assert found.code is (Code.UNRESOLVABLE if is_known else Code.UNDECIDED)


BOUND, OPEN = make_claim("bound", volume="v"), make_claim("open")
STORED = make_snapshot(**make_storage(claims=[BOUND, OPEN]))
DISK: dict[str, Any] = {"name": "d", "iscsi": {"iqn": "q"}}
PODS = {
    "plain": new_pod(),
    "bound": new_pod("bound"),
    "bound too": new_pod("bound"),
    "open": new_pod("open"),
    "missing": new_pod("missing"),
    "ephemeral": new_pod(volumes=[ephemeral()]),
    "elsewhere": make_pod("x", namespace="other", claims=["bound"]),
    "both": new_pod("bound", "open"),
    "disk": new_pod(volumes=[DISK]),
}
NEW = {"open", "missing", "ephemeral", "elsewhere", "both"}
"""Pods of which a claim has no volume yet; no claim is known in the other namespace."""
SAME = [{"bound", "bound too", "both"}, {"open", "both"}, {"missing"}, {"elsewhere"}]
"""Pods that name one claim."""


@pytest.mark.parametrize("first", PODS)
@pytest.mark.parametrize("second", PODS)
def test_pods_bear_on_each_other_by_the_claims_that_they_name_and_the_volumes_that_they_need(
    first: str, second: str
) -> None:
    shares = any({first, second} <= named for named in SAME)
    pair = PODS[first], PODS[second]

    assert ClaimInteractions().interact(*pair) is shares
    assert NewVolumeInteractions(STORED).interact(*pair) is (shares or {first, second} <= NEW)


@pytest.mark.parametrize("rule", [ClaimInteractions(), NewVolumeInteractions(STORED)], ids=["claims", "new volumes"])
def test_what_is_told_of_many_pods_is_what_is_told_of_two(rule: ClaimInteractions) -> None:
    pods = list(PODS.values())

    meetings = Meetings(len(pods), rule.interacting(GatheredPods(pods)))

    told = {(int(one), place) for place in range(len(pods)) for one in meetings.on(place)}
    assert told == {(i, j) for i, one in enumerate(pods) for j, other in enumerate(pods) if rule.interact(one, other)}


def test_pods_with_claims_are_not_local_and_those_with_disks_close_nodes() -> None:
    rule, pods = ClaimInteractions(), list(PODS.values())

    assert [name for name, pod in PODS.items() if rule.is_local(pod)] == ["plain", "disk"]
    meetings = Meetings(len(pods), rule.closing(GatheredPods([*pods, PODS["disk"]])))
    assert [place for place in range(len(pods)) if len(meetings.on(place))] == [list(PODS).index("disk")]
    assert not any(rule.can_be_helped(pod) or rule.is_felt_widely(pod) for pod in pods)
