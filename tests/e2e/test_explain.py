"""`descheduler explain` on a live cluster says beforehand what then happens."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.e2e.cluster import Cluster
from tests.e2e.objects import deployment, node
from tests.e2e.program import Program, policy

TAINTED = {"spec": {"taints": [{"key": "closed", "value": "yes", "effect": "NoSchedule"}]}}
TAINTS = "RemovePodsViolatingNodeTaints"


def test_pod_lands_where_the_explanation_says(cluster: Cluster, program: Program, tmp_path: Path) -> None:
    cluster.add_nodes(node("a"))
    (pod,) = cluster.run(deployment("web", cluster.namespace, cpu="500m"))
    cluster.add_nodes(node("b"), node("small", cpu="300m"))
    cluster.api.patch(node("a"), TAINTED)
    file = tmp_path / "policy.yaml"
    file.write_text(policy(TAINTS))

    explained = explain(cluster, "pod", f"{cluster.namespace}/{pod['metadata']['name']}", "--config", str(file))
    program.run(policy(TAINTS))
    (moved,) = cluster.wait_ready("web", 1)

    text = json.dumps(explained)
    assert explained["kind"] == "Explanation"
    assert TAINTS in text
    assert "Insufficient cpu" in text
    assert explained["pod"]["landing"]["node"] == moved["spec"]["nodeName"] == "b"


def explain(cluster: Cluster, *arguments: str) -> dict[str, Any]:
    """The explanation, read from the cluster."""
    command = [str(Path(sys.executable).parent / "descheduler"), "explain", *arguments]
    flags = [f"--kubeconfig={cluster.kubeconfig}", "--output=json"]
    done = subprocess.run([*command, *flags], capture_output=True, text=True, timeout=60, check=True)
    document: dict[str, Any] = json.loads(done.stdout)
    return document
