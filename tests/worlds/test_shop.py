"""The shop, and the sample of it that comes with the program."""

from __future__ import annotations

import gzip
import io
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from descheduler import evaluate
from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.request import SnapshotRequest
from descheduler.report.plan.document import Plan
from tests.worlds.shop import SHOP_AT, write_shop

ROOT = Path(__file__).parents[2]
WORKLOAD_KINDS = {"ReplicaSet.apps", "StatefulSet.apps", "DaemonSet.apps"}
SAMPLE = ROOT / "config" / "samples" / "shop.jsonl.gz"


@cache
def plan() -> Plan:
    """What the sample policy does with the sample."""
    return evaluate(ROOT / "config" / "policy.yaml", SAMPLE, now=SHOP_AT).plan


def test_bundled_sample_is_the_shop() -> None:
    out = io.BytesIO()

    write_shop(out)

    assert gzip.decompress(out.getvalue()) == gzip.decompress(SAMPLE.read_bytes()), "run: python -m tests.worlds.shop"


def test_bundled_sample_is_a_whole_dump_without_overcommitted_nodes() -> None:
    snapshot = read_dump([SAMPLE], SnapshotRequest({"Pod", "PodDisruptionBudget.policy", "PersistentVolumeClaim"}))

    assert snapshot.warnings == ()
    for node in snapshot.nodes:
        running = [pod for pod in snapshot.pods_by_node.get(node.name, ()) if not pod.is_terminal]
        for resource, allocatable in node.allocatable.items():
            assert sum(pod.spec.requests.get(resource, 0) for pod in running) <= allocatable


def test_every_plugin_of_the_sample_policy_evicts_a_pod() -> None:
    assert {figures.plugin for figures in plan().plugins if figures.evicted == 0} == set()


def test_every_replacement_is_known_and_one_has_no_room() -> None:
    verdicts = Counter(move.landing.verdict for move in plan().moves if move.landing is not None)

    assert "unknown" not in verdicts
    assert verdicts["lands"] > 1
    assert [move.pod.name for move in plan().moves if move.landing and move.landing.verdict == "no"] == ["orders-db-1"]


def test_every_owner_of_a_pod_is_in_the_sample() -> None:
    snapshot = read_dump([SAMPLE], SnapshotRequest({"Pod", *WORKLOAD_KINDS}, keep_templates=True))
    owners = {pod.controller.uid for pod in snapshot.pods if pod.controller is not None}

    assert owners <= set(snapshot.workloads)


def test_page_of_the_samples_says_how_large_it_is() -> None:
    snapshot = read_dump([SAMPLE], SnapshotRequest(set()))

    size = f"{len(snapshot.nodes)} nodes and {len(snapshot.pods)} pods"
    assert size in (SAMPLE.parent / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    "code", ["DisruptionBudget", "LimitReached", "SystemCritical", "LocalStorage", "TooFewReplicas"]
)
def test_some_pod_is_kept_by(code: str) -> None:
    assert code in {count.code for count in plan().refusal_counts}
