"""What plugins reserved for a pod is given back when a what-if takes the pod off its node."""

from __future__ import annotations

from typing import Any

from descheduler.cluster.snapshot import Snapshot
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from tests.builders import make_node, make_pod, make_snapshot
from tests.placement.plugins.volumes.storage import ephemeral, make_claim, make_storage, make_volume, on_nodes
from tests.placement.workloads import pod_named

PREFERS_X = {
    "nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 100, "preference": {"matchExpressions": [{"key": "disks", "operator": "Exists"}]}}
        ]
    }
}


def one_local_volume() -> Snapshot:
    """A node whose one volume a pending pod is about to take; the victim's replacement needs one too."""
    return make_snapshot(
        [make_node("a"), make_node("b", unschedulable=True)],
        [
            make_pod("waiting", node="", claims=["open"], owners=["ReplicaSet/waiting"]),
            make_pod("victim", node="b", volumes=[ephemeral()], owners=["ReplicaSet/victim"]),
        ],
        **make_storage(
            claims=[make_claim("open"), make_claim("victim-scratch", volume="used", owner_uid="default-victim")],
            volumes=[
                make_volume("only", node_affinity=on_nodes("a")),
                make_volume("used", claim="victim-scratch", node_affinity=on_nodes("b")),
            ],
        ),
    )


def test_replacement_lands_if_the_pending_pod_does_not_take_the_only_local_volume_first() -> None:
    snapshot = one_local_volume()

    landing = LandingProver(snapshot).consider(pod_named(snapshot, "victim"))

    assert (landing.verdict, landing.node) == (LandingVerdict.LANDS_IF, "a")
    assert landing.conditions == ("pending pod default/waiting may be scheduled there first",)


def test_batch_lands_if_the_pending_pod_does_not_take_the_only_local_volume_first() -> None:
    snapshot = one_local_volume()

    joint = LandingProver(snapshot).prove([pod_named(snapshot, "victim")])

    assert (joint.verdict, joint.certificate) == (LandingVerdict.LANDS_IF, "")
    assert joint.conditions == ("pending pod default/waiting may be scheduled there first",)


def test_member_that_is_moved_out_of_the_way_of_another_leaves_its_volume_behind() -> None:
    """Twenty small pods take the volumes of the node that the last one, which has to go there, needs one of."""
    facts: dict[str, Any] = {"node": "c", "volumes": [ephemeral()]}
    small = [
        make_pod(f"s{index:02}", priority=10, affinity=PREFERS_X, owners=[f"ReplicaSet/s{index:02}"], **facts)
        for index in range(20)
    ]
    picky = make_pod("z", node_selector={"disks": "yes"}, owners=["ReplicaSet/z"], **facts)
    volumes = [make_volume(f"x{index:02}", node_affinity=on_nodes("x")) for index in range(20)]
    volumes.append(make_volume("y", node_affinity=on_nodes("y")))
    nodes = [make_node("x", labels={"disks": "yes"}), make_node("y"), make_node("c", unschedulable=True)]
    snapshot = make_snapshot(nodes, [*small, picky], **make_storage(volumes=volumes))

    joint = LandingProver(snapshot).prove([pod_named(snapshot, pod.name) for pod in (*small, picky)])

    assert joint.verdict is LandingVerdict.LANDS_IF
    assert joint.conditions == ("it can be scheduled only if other replacement pods go to nodes of lower score",)
