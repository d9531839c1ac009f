"""Four shards as processes at once on the real control plane, beside one run over the whole cluster."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from descheduler.model.shard import Shard
from tests.builders import make_node
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object
from tests.e2e.objects import deployment, node
from tests.e2e.program import Program, Report, policy

TAINTS = "RemovePodsViolatingNodeTaints"
COUNT, PER_SHARD = 4, 2
SHARDS = [Shard(index, COUNT, "rack") for index in range(COUNT)]


def racks_of(shard: Shard) -> list[str]:
    """The first racks that the shard owns."""
    names = (f"bay-{number}" for number in range(100))
    return [name for name in names if shard.owns(make_node("any", labels={"rack": name}))][:PER_SHARD]


RACKS = {rack: shard for shard in SHARDS for rack in racks_of(shard)}
"""Rack → its shard; every shard has as many."""


@pytest.fixture
def racks(cluster: Cluster) -> list[Object]:
    """In every rack a tainted node with two pods that do not tolerate the taint, and a free node; the pods."""
    full = [node(f"{rack}-full", cpu="1", labels={"rack": rack}) for rack in RACKS]
    cluster.add_nodes(*full)
    pods = cluster.run(deployment("web", cluster.namespace, replicas=2 * len(full), cpu="400m"))
    cluster.add_nodes(*(node(f"{rack}-free", cpu="1", labels={"rack": rack}) for rack in RACKS))
    for each in full:
        cluster.api.patch(each, {"spec": {"taints": [{"key": "closed", "effect": "NoSchedule"}]}})
    return pods


def run_all(program: Program, document: str, *flags: str) -> list[Report]:
    """Starts all shards at once and waits for them."""
    named = (f"--shards={COUNT}", "--shard-by=rack", *flags)
    running = [program.start(document, *named, f"--shard-index={index}") for index in range(COUNT)]
    return [each.wait() for each in running]


def test_shards_plan_together_what_one_run_plans(program: Program, racks: Sequence[Object]) -> None:
    reports = run_all(program, policy(TAINTS), "--dry-run")
    whole = program.run(policy(TAINTS), "--dry-run")

    moves = [move for report in reports for move in report.document["moves"]]
    assert sorted(move["pod"]["uid"] for move in moves) == sorted(pod["metadata"]["uid"] for pod in racks)
    assert sorted(map(leaving, moves)) == sorted(map(leaving, whole.document["moves"]))


def test_shards_at_once_stay_within_the_limit_and_on_their_nodes(
    cluster: Cluster, program: Program, racks: Sequence[Object]
) -> None:
    reports = run_all(program, policy(TAINTS, maxNoOfPodsToEvictTotal=6))

    assert [report.exit_code for report in reports] == [0] * COUNT
    results = [[each for each in report.document["results"] if each["result"] == "evicted"] for report in reports]
    assert sorted(len(evicted) for evicted in results) == [1, 1, 2, 2]
    for shard, evicted in zip(SHARDS, results, strict=True):
        assert {RACKS[each["node"].removesuffix("-full")] for each in evicted} == {shard}
    left = {pod["metadata"]["uid"] for pod in cluster.pods("web") if "deletionTimestamp" not in pod["metadata"]}
    gone = {pod["metadata"]["uid"] for pod in racks} - left
    assert sorted(each["pod"]["uid"] for evicted in results for each in evicted) == sorted(gone)


def test_shards_at_once_evict_every_pod_once(cluster: Cluster, program: Program, racks: Sequence[Object]) -> None:
    reports = run_all(program, policy(TAINTS))

    evicted = sorted(uid for report in reports for _, uid in report.pods("evicted"))
    assert evicted == sorted(pod["metadata"]["uid"] for pod in racks)
    ready = cluster.wait_ready("web", len(racks))
    assert {pod["spec"]["nodeName"].removesuffix("-free") for pod in ready} == set(RACKS)


def leaving(move: Object) -> tuple[str, str]:
    """The pod of a move, and the node that it leaves."""
    return move["pod"]["uid"], move["from"]
