"""The sample of Volcano: each of its rules lets a pod go and keeps one, and the plan says why."""

from __future__ import annotations

import gzip
import io
from functools import cache
from pathlib import Path

from descheduler import evaluate
from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.request import SnapshotRequest
from descheduler.report.plan.document import Plan
from tests.builders import owner
from tests.worlds.volcano import VOLCANO_AT, volcano_objects, write_volcano
from tests.worlds.volcano_rules import RULES

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "config" / "samples" / "volcano.jsonl.gz"
POLICY = ROOT / "config" / "profiles" / "volcano.yaml"


@cache
def plan() -> Plan:
    """What the profile does with the sample."""
    return evaluate(POLICY, SAMPLE, now=VOLCANO_AT).plan


def test_bundled_sample_is_the_cluster_of_volcano() -> None:
    out = io.BytesIO()

    write_volcano(out)

    told = "run: python -m tests.worlds.volcano"
    assert gzip.decompress(out.getvalue()) == gzip.decompress(SAMPLE.read_bytes()), told


def test_page_of_the_samples_says_how_large_it_is() -> None:
    snapshot = read_dump([SAMPLE], SnapshotRequest(set()))

    size = f"{len(snapshot.nodes)} nodes and {len(snapshot.pods)} pods"
    assert size in (SAMPLE.parent / "README.md").read_text("utf-8")


def test_each_rule_lets_a_pod_go() -> None:
    moves = {move.pod.name: move.landing.verdict for move in plan().moves if move.landing is not None}

    assert moves == {"resnet-0": "lands", "detect-0": "lands", "sweep-0": "lands"}


def test_each_rule_keeps_a_pod() -> None:
    kept = {refusal.pod.name: refusal.code for refusal in plan().refusals}

    codes = {f"{name}-0": rule.code for name, rule in RULES.items()}
    assert kept == {"bert-0": "GangMinimum", "whisper-0": "NoLanding", **codes}


def test_profile_lets_a_pod_of_a_volcano_job_go() -> None:
    """The limits of MigrationController for workloads refuse pods whose replicas they do not know."""
    group = "batch.volcano.sh/v1alpha1"
    objects = list(volcano_objects())
    for pod in objects:
        if pod["kind"] == "Pod" and pod["metadata"]["name"].startswith("resnet-"):
            pod["metadata"]["ownerReferences"] = [owner("Job/resnet", group=group)]
    (uid,) = {
        each["uid"]
        for pod in objects
        for each in pod["metadata"].get("ownerReferences", ())
        if each["name"] == "resnet" and each["apiVersion"] == group
    }
    job = {
        "apiVersion": group,
        "kind": "Job",
        "metadata": {"name": "resnet", "namespace": "batch", "uid": uid},
        "spec": {"minAvailable": 3, "tasks": [{"name": "worker", "replicas": 4}]},
        "status": {"state": {"phase": "Running"}},
    }

    decided = evaluate(POLICY, [*objects, job], now=VOLCANO_AT).plan

    assert "resnet-0" in {move.pod.name for move in decided.moves}
