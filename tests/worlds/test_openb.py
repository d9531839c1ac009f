"""The openb trace as a cluster, and the sample that comes with the program."""

from __future__ import annotations

import io
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import SnapshotError
from tests.worlds.openb import main, openb_lists, write_openb
from tests.worlds.openb_trace import TraceNode, TracePod, read_pods

SAMPLE = Path(__file__).parents[2] / "config" / "samples" / "openb.jsonl.gz"
CORE = "koordinator.sh/gpu-core"

NODES = [TraceNode(f"node-{n}", 32_000, 131_072, 4 if n % 2 else 0, "T4" if n % 2 else "") for n in range(12)]


def make_trace_pod(number: int, *, num_gpus: int = 1, gpu_milli: int = 460, **facts: Any) -> TracePod:
    defaults: dict[str, Any] = {"cpu_milli": 2000, "memory_mib": 4096, "models": (), "qos": "LS", "phase": "Running"}
    return TracePod(
        name=f"pod-{number:03d}",
        num_gpus=num_gpus,
        gpu_milli=gpu_milli,
        created_seconds=number,
        **(defaults | facts),
    )


def items(nodes: list[TraceNode], pods: list[TracePod], kind: str, seed: int = 1) -> list[dict[str, Any]]:
    lists = openb_lists(nodes, pods, seed=seed)
    return [
        item for found, pages in lists if found.name == kind for page in pages for item in json.loads(page)["items"]
    ]


def gpu_use(pods: list[dict[str, Any]]) -> dict[tuple[str, int], int]:
    """Hundredths of each GPU, by node and index, that the annotations give away."""
    used: dict[tuple[str, int], int] = defaultdict(int)
    for pod in pods:
        annotations = pod["metadata"].get("annotations", {})
        allocated = json.loads(annotations.get("scheduling.koordinator.sh/device-allocated", '{"gpu":[]}'))
        for device in allocated["gpu"]:
            used[pod["spec"]["nodeName"], device["minor"]] += int(device["resources"][CORE])
    return used


def test_parts_of_a_gpu_fit_on_single_devices() -> None:
    pods = [make_trace_pod(n) for n in range(40)] + [
        make_trace_pod(n, num_gpus=2, gpu_milli=1000) for n in range(40, 50)
    ]

    used = gpu_use(items(NODES, pods, "Pod"))

    assert used
    assert max(used.values()) <= 100
    assert all(index < 4 for _, index in used)


def test_pod_without_room_waits_and_so_does_one_that_the_trace_left_pending() -> None:
    pods = [make_trace_pod(0, num_gpus=5, gpu_milli=1000), make_trace_pod(1, phase="Pending")]

    placed = items(NODES, pods, "Pod")

    assert [pod["status"]["phase"] for pod in placed] == ["Pending", "Pending"]
    assert all("nodeName" not in pod["spec"] for pod in placed)


def test_pod_that_names_models_goes_to_one_of_them() -> None:
    nodes = [*NODES, TraceNode("v100", 32_000, 131_072, 8, "V100M16")]

    placed = items(nodes, [make_trace_pod(n, models=("V100M16",)) for n in range(8)], "Pod")

    assert {pod["spec"].get("nodeName", "v100") for pod in placed} == {"v100"}


def test_same_seed_gives_the_same_bytes() -> None:
    pods = [make_trace_pod(n) for n in range(60)]

    first, again, other = (items(NODES, pods, "Pod", seed) for seed in (1, 1, 2))

    assert first == again
    assert first != other


def test_each_gpu_node_has_a_device_object() -> None:
    devices = items(NODES, [], "Device")

    assert [device["metadata"]["name"] for device in devices] == [n.name for n in NODES if n.num_gpus]


def write_csv(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_trace_files_become_a_dump(tmp_path: Path) -> None:
    nodes = write_csv(tmp_path, "nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\nn0,8000,32768,1,T4\n")
    pods = write_csv(
        tmp_path,
        "pods.csv",
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np0,1000,1024,1,455\np1,1000,1024,0,0\n",
    )
    out = io.BytesIO()

    write_openb(nodes, pods, out, seed=1)

    snapshot = read_dump(["-"], SnapshotRequest({"PersistentVolumeClaim"}), stdin=io.BytesIO(out.getvalue()))
    assert [node.name for node in snapshot.nodes] == ["n0"]
    assert [pod.spec.requests.get(CORE) for pod in snapshot.pods] == [46 * 10**9, None]
    assert snapshot.warnings == ()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param("a,b\n1,2\n", "no column name, cpu_milli", id="another table"),
        pytest.param(
            "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,one,0\n",
            ":2: num_gpu is 'one'",
            id="a word for a number",
        ),
    ],
)
def test_file_that_is_no_pod_list_is_named(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(SnapshotError) as caught:
        read_pods(write_csv(tmp_path, "pods.csv", text))

    assert sentence in str(caught.value)


def test_command_names_a_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main([str(tmp_path / "nodes.csv"), str(tmp_path / "pods.csv")])

    assert code == 1
    assert "cannot be read" in capsys.readouterr().err


def test_bundled_sample_is_a_whole_dump_without_overcommitted_nodes() -> None:
    snapshot = read_dump([SAMPLE], SnapshotRequest({"Pod", "PodDisruptionBudget.policy", "PersistentVolumeClaim"}))

    assert len(snapshot.nodes) >= 1000
    assert snapshot.warnings == ()
    for node in snapshot.nodes:
        running = [pod for pod in snapshot.pods_by_node.get(node.name, ()) if not pod.is_terminal]
        for resource, allocatable in node.allocatable.items():
            assert sum(pod.spec.requests.get(resource, 0) for pod in running) <= allocatable
