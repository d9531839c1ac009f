"""A capture of VMR2L as a problem: where machines are and can go, and which free cores are fragments."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from descheduler.cluster.snapshot import SnapshotError
from tests.worlds.vmr2l import read_fleet

_Document = dict[str, Any]


def _host(name: str, free: tuple[int, int], status: str = "ACTIVE") -> _Document:
    numa = [
        {"node": node, "total_cpu": 44, "free_cpu": float(cores), "memory_huge_free_mb": 4096.0 * cores}
        for node, cores in enumerate(free)
    ]
    return {"node_id": name, "status": status, "numa": numa}


def _machine(name: str, host: str, nodes: tuple[int, ...], cores: int, **facts: bool) -> _Document:
    numa = [{"node": node, "cpu": cores, "mem_mb": 2048.0 * cores} for node in nodes]
    return {"instance_id": name, "instance_type": "any", "host_id": host, "numa": numa, **facts}


def _capture(*clusters: tuple[list[_Document], list[_Document]]) -> _Document:
    return {"cluster_list": [{"host_info": hosts, "vm_instance": machines} for hosts, machines in clusters]}


def _written(folder: Path, document: _Document) -> Path:
    path = folder / "capture.json.gz"
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    return path


_TWO_HOSTS = [_host("a", (12, 8)), _host("b", (4, 40))]


def test_fragments_are_free_cores_that_do_not_make_up_a_slot(tmp_path: Path) -> None:
    """Of 12, 8, 4 and 40 free cores, 32 make up two slots of 16."""
    fleet = read_fleet(_written(tmp_path, _capture((_TWO_HOSTS, [_machine("m", "a", (0,), 4)]))))

    assert fleet.fragment_rate(fleet.problem.assignment) == 32 / 64


def test_moved_machine_leaves_its_cores_and_takes_those_of_its_new_numa_node(tmp_path: Path) -> None:
    """The four cores make up a slot where they were, and were no slot's where they go."""
    fleet = read_fleet(_written(tmp_path, _capture((_TWO_HOSTS, [_machine("m", "a", (0,), 4)]))))
    on_host_b = np.array([int(np.flatnonzero(fleet.problem.parts_by_rank(np.arange(4))[0][0] == 2)[0])])

    assert fleet.fragment_rate(on_host_b) == (8 + 8) / 64


def test_move_that_takes_more_than_is_free_is_refused(tmp_path: Path) -> None:
    """The count does not trust the plan."""
    machines = [_machine("m", "a", (0,), 8)]
    fleet = read_fleet(_written(tmp_path, _capture((_TWO_HOSTS, machines))))

    with pytest.raises(ValueError, match="more cores than it has"):
        fleet.fragment_rate(np.array([2]))


def test_machine_stays_in_its_cluster_on_as_many_numa_nodes_and_off_hosts_that_are_not_active(tmp_path: Path) -> None:
    """Each class has the choices of its own cluster: single NUMA nodes, or both of a host."""
    first = [_host("a", (12, 8)), _host("off", (40, 40), status="DISABLED")]
    clusters = (
        (first, [_machine("m", "a", (0,), 4), _machine("wide", "a", (0, 1), 16)]),
        ([_host("a", (4, 4))], [_machine("n", "a", (1,), 2)]),
    )

    problem = read_fleet(_written(tmp_path, _capture(*clusters))).problem

    open_to = [np.flatnonzero(problem.allowed[row]).tolist() for row in problem.pod_class.tolist()]
    assert [[problem.parts_at(node) for node in nodes] for nodes in open_to] == [[[0], [1]], [[0, 1]], [[4], [5]]]


def test_capacity_is_what_is_free_and_what_machines_have(tmp_path: Path) -> None:
    """So the fleet as captured always fits."""
    machines = [_machine("m", "a", (0,), 4), _machine("wide", "a", (0, 1), 16)]

    problem = read_fleet(_written(tmp_path, _capture((_TWO_HOSTS, machines)))).problem

    assert problem.part_capacity[:, 0].tolist() == [12 + 4 + 16, 8 + 16, 4, 40]


def test_machine_that_may_not_migrate_is_not_evictable(tmp_path: Path) -> None:
    """`allow_migration: false`."""
    machines = [_machine("m", "a", (0,), 4, allow_migration=False), _machine("n", "a", (0,), 4)]

    problem = read_fleet(_written(tmp_path, _capture((_TWO_HOSTS, machines)))).problem

    assert problem.evictable.tolist() == [False, True]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        pytest.param({"nodes": []}, "cluster_list", id="another document"),
        pytest.param(_capture((_TWO_HOSTS, [_machine("m", "c", (0,), 4)])), "is not a capture", id="unknown host"),
        pytest.param(
            _capture((_TWO_HOSTS, [{**_machine("m", "a", (0,), 4), "numa": []}])), "machine m", id="machine nowhere"
        ),
    ],
)
def test_what_is_not_a_capture_is_refused_with_its_path(tmp_path: Path, document: _Document, said: str) -> None:
    """One sentence that names the file."""
    path = _written(tmp_path, document)

    with pytest.raises(SnapshotError, match=said) as refused:
        read_fleet(path)

    assert str(path) in str(refused.value)
