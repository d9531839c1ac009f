"""The sample of Koordinator: each of its rules lets a pod go there and keeps one, and `explain pod` says why."""

from __future__ import annotations

import gzip
import io
from functools import cache
from pathlib import Path

import pytest

from descheduler import evaluate
from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.request import SnapshotRequest
from descheduler.report.plan.document import Plan
from tests.cli.commands import Descheduler
from tests.worlds.koordinator import KOORDINATOR_AT, write_koordinator

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "config" / "samples" / "koordinator.jsonl.gz"
POLICY = ROOT / "config" / "profiles" / "koordinator-gpu.yaml"


@cache
def plan() -> Plan:
    """What the profile does with the sample."""
    return evaluate(POLICY, SAMPLE, now=KOORDINATOR_AT).plan


@pytest.fixture(autouse=True)
def _in_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """The profile names a file from there."""
    monkeypatch.chdir(ROOT)


def test_bundled_sample_is_the_cluster_of_koordinator() -> None:
    out = io.BytesIO()

    write_koordinator(out)

    told = "run: python -m tests.worlds.koordinator"
    assert gzip.decompress(out.getvalue()) == gzip.decompress(SAMPLE.read_bytes()), told


def test_page_of_the_samples_says_how_large_it_is() -> None:
    snapshot = read_dump([SAMPLE], SnapshotRequest(set()))

    size = f"{len(snapshot.nodes)} nodes and {len(snapshot.pods)} pods"
    assert size in (SAMPLE.parent / "README.md").read_text("utf-8")


def test_each_rule_lets_a_pod_go() -> None:
    moves = {
        move.pod.name: (move.landing.verdict, tuple(f"{each.kind} {each.name}" for each in move.landing.allocations))
        for move in plan().moves
        if move.landing is not None
    }

    assert moves == {
        "infer-0": ("lands", ("gpu 1",)),
        "vision-0": ("lands", ()),
        "resnet-0": ("lands", ()),
        "ranker-0": ("lands", ("reservation ranker-next",)),
        "cache-0": ("lands", ()),
        "solver-0": ("lands", ("cpus 0-3",)),
        "encoder-0": ("lands", ("cpus 0-1,9,11",)),
    }


def test_each_rule_keeps_a_pod() -> None:
    kept = {refusal.pod.name: refusal.code for refusal in plan().refusals if refusal.code != "DaemonSet"}

    assert kept == {
        "finetune-0": "NoLanding",
        "speech-0": "ElasticQuota",
        "bert-0": "GangMinimum",
        "indexer-0": "NoLanding",
        "report-0": "IrreducibleShortage",
        "renderer-0": "NoLanding",
    }


@pytest.mark.long
@pytest.mark.parametrize(
    ("pod", "said"),
    [
        pytest.param("serving/infer-0", ["allocated on gpu-2: gpu 1"], id="minor of the GPU"),
        pytest.param(
            "serving/finetune-0",
            ["Blocked by:    NoLanding", "0 of 2 have as much left; free: gpu-core 50, gpu-memory-ratio 50 on 0, 1"],
            id="minors that are too full",
        ),
        pytest.param(
            "research/speech-0",
            ["Blocked by:    ElasticQuota", "runtime: cpu:8, used: cpu:9", "Elastic quota speech, parent research"],
            id="limit of the quota",
        ),
        pytest.param("research/vision-0", ["Decision: evicted", "Elastic quota vision"], id="quota with room"),
        pytest.param(
            "training/bert-0",
            ["training/bert (minMember: 4", "4 running, 0 pending, 0 missing", "Blocked by:    GangMinimum"],
            id="members of the gang",
        ),
        pytest.param("training/resnet-0", ["training/resnet (minMember: 3", "Decision: evicted"], id="larger gang"),
        pytest.param("search/ranker-0", ["allocated on held-2: reservation ranker-next"], id="Reservation in use"),
        pytest.param(
            "search/indexer-0",
            ["Blocked by:    NoLanding", "Reservation ranker-next holds cpu 4, memory 1Gi for its owners"],
            id="Reservation of others",
        ),
        pytest.param("apps/cache-0", ["exceed allocatable minus reserved by cpu 600m"], id="amount of the node"),
        pytest.param("apps/report-0", ["Blocked by:    IrreducibleShortage"], id="node without hope"),
        pytest.param(
            "video/renderer-0",
            [
                "pinned to CPU 2 of node pin-1 (reservedCPUs of NodeResourceTopology: 0-2)",
                "Blocked by:    NoLanding",
                "requests 4 CPUs of its own (CPU bind policy FullPCPUs); 0 of 16 can be used; free: 3,5,7,13,15",
            ],
            id="whole cores",
        ),
        pytest.param(
            "apps/solver-0",
            ["allocated on node-2: cpus 0-3", "pinned to CPUs 0-1 of node node-3 (reservedCPUs: 0-1)"],
            id="reserved CPUs",
        ),
    ],
)
def test_explanation_of_a_pod_names_what_decides(descheduler: Descheduler, pod: str, said: list[str]) -> None:
    ended = descheduler("explain", "pod", pod, "--policy-config-file", POLICY, "--snapshot", SAMPLE)

    assert [text for text in said if text not in ended.out] == []


def test_room_that_reservations_hold_for_others_is_what_the_replacement_lacks(tmp_path: Path) -> None:
    without = tmp_path / "dump.jsonl.gz"
    lines = gzip.decompress(SAMPLE.read_bytes()).replace(b'"phase":"Available"', b'"phase":"Failed"')
    without.write_bytes(gzip.compress(lines))

    moved = {move.pod.name for move in evaluate(POLICY, without, now=KOORDINATOR_AT).plan.moves}

    assert "indexer-0" in moved
