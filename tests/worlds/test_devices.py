"""The sample of devices: each rule lets a pod go or keeps one, and the plan says why."""

from __future__ import annotations

import gzip
import io
from functools import cache
from pathlib import Path

from descheduler import evaluate
from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.request import SnapshotRequest
from descheduler.report.plan.document import Plan
from tests.worlds.devices import DEVICES_AT, write_devices

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "config" / "samples" / "devices.jsonl.gz"
POLICY = ROOT / "config" / "profiles" / "dra.yaml"


@cache
def plan() -> Plan:
    """What the profile does with the sample."""
    return evaluate(POLICY, SAMPLE, now=DEVICES_AT).plan


def test_bundled_sample_is_the_cluster_of_devices() -> None:
    out = io.BytesIO()

    write_devices(out)

    told = "run: python -m tests.worlds.devices > config/samples/devices.jsonl.gz"
    assert gzip.decompress(out.getvalue()) == gzip.decompress(SAMPLE.read_bytes()), told


def test_page_of_the_samples_says_how_large_it_is() -> None:
    snapshot = read_dump([SAMPLE], SnapshotRequest(set()))

    size = f"{len(snapshot.nodes)} nodes and {len(snapshot.pods)} pods"
    assert size in (SAMPLE.parent / "README.md").read_text("utf-8")


def test_pods_get_other_devices() -> None:
    moves = {m.pod.name: (m.landing.verdict, m.to_node) for m in plan().moves if m.landing is not None}

    assert moves == {"train-0": ("lands", "gpu-3"), "slice-0": ("lands", "part-1")}


def test_pods_that_would_get_the_same_or_no_devices_stay() -> None:
    kept = {refusal.pod.name: refusal.code for refusal in plan().refusals}

    left = {"lost-0": "NoExecute"}
    assert kept == {"large-0": "NoLanding", "serve-0": "SelectedAgain", "serve-1": "SelectedAgain", **left}


def test_pod_on_a_lost_device_is_left_to_kube_controller_manager() -> None:
    (plugin,) = plan().plugins

    assert plugin.facts is not None
    assert plugin.facts.counts == {"taintedDevices": 6, "podsLeftToNoExecute": 1}
