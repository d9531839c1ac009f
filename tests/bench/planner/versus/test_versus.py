"""The command of comparisons: each runs on a small world from start to end, and says what it lacks otherwise."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from descheduler.optimizer import Limits, make_problem
from descheduler.optimizer.rules import AtMost
from tests.bench.planner.versus.__main__ import COMPARISONS, main
from tests.bench.planner.versus.comparison import MissingDataError, Options
from tests.bench.planner.versus.priorities import PRIORITIES
from tests.bench.planner.versus.rebalancer import figures
from tests.bench.planner.versus.rebalancer_program import calls_of, environment
from tests.worlds.arrays import ArrayWorld

_NODES = "sn,cpu_milli,memory_mib,gpu,model\nnode-0,32000,131072,2,T4\nnode-1,32000,131072,2,T4\n"
_PODS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n" + "".join(
    f"pod-{number},2000,8192,1,{share}\n" for number, share in enumerate([600, 600, 400, 1000, 700, 300, 500])
)


def _write_capture(folder: Path) -> None:
    """Two hosts on which 12 and 4 cores are free: one move makes a slot of 16."""
    hosts = [
        {"node_id": name, "numa": [{"node": 0, "free_cpu": free, "memory_huge_free_mb": 65536.0}]}
        for name, free in (("a", 12.0), ("b", 4.0))
    ]
    share = [{"node": 0, "cpu": 4, "mem_mb": 8192.0}]
    machines = [{"instance_id": "m", "host_id": "a", "numa": share}]
    folder.mkdir()
    (folder / "one.json").write_text(json.dumps({"cluster_list": [{"host_info": hosts, "vm_instance": machines}]}))


def _write_trace(folder: Path) -> None:
    folder.mkdir()
    (folder / "openb_node_list_gpu_node.csv").write_text(_NODES)
    (folder / "openb_pod_list_tiny.csv").write_text(_PODS)


def test_capture_is_planned_and_its_fragments_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The rate before and after, with the moves."""
    _write_capture(tmp_path / "vmr2l")

    main(["--only", "vmr2l", "--data", str(tmp_path), "--work", "0.1"])

    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "  one.json: 1 machines on 2 NUMA nodes, FR 1.000"
    assert lines[2].startswith("  25 moves, seed 0: FR 0.000 with 1 machines moved in 1 waves;")


def test_capture_can_be_given_by_its_own_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Any file of that form."""
    _write_capture(tmp_path / "elsewhere")

    main(["--only", "vmr2l", "--data", str(tmp_path / "elsewhere" / "one.json"), "--work", "0.1"])

    assert "one.json: 1 machines on 2 NUMA nodes" in capsys.readouterr().out


def test_each_list_of_the_trace_is_planned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The list's name comes from its file."""
    _write_trace(tmp_path / "openb")

    main(["--only", "openb", "--data", str(tmp_path), "--work", "0.1"])

    assert capsys.readouterr().out.splitlines()[1].startswith("  tiny, seed 0: 0 of ")


def test_comparison_without_its_data_says_what_it_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And the others go on."""
    (tmp_path / "vmr2l").mkdir()

    main(["--only", "vmr2l", "--data", str(tmp_path)])

    assert capsys.readouterr().out.splitlines()[1:] == [f"  not run: no file *.json or *.json.gz in {tmp_path}/vmr2l"]


def test_names_of_comparisons_differ() -> None:
    """`--only` names one."""
    names = [each.name for each in COMPARISONS]

    assert sorted(set(names)) == sorted(names)


@pytest.mark.long
def test_pending_pods_of_all_priorities_are_counted() -> None:
    """On the smallest clusters: what is better, and the pods of high and low priorities."""
    options = Options(data=None, limits=Limits(work=0.01), longer=None, num_seeds=1, num_workers=1)

    (line,) = islice(PRIORITIES.lines(options), 1)

    assert line.startswith("4 nodes, preemption, 0.01 units of work: ")
    assert " of 4 cases better (" in line


def _small_world() -> ArrayWorld:
    """Three nodes of 10; pods 0 and 1 are apart by node, pod 2 is pinned."""
    apart = AtMost(np.array([0, 0, -1]), np.arange(3), np.array([1]))
    problem = make_problem([[4], [4], [3]], [[10], [10], [10]], [0, 1, 0], evictable=[True, True, False], rules=[apart])
    return ArrayWorld(problem, np.full((3, 1), 6), np.zeros(3, np.int64))


def test_figures_count_what_a_plan_does_and_what_it_breaks() -> None:
    """Both pods on one node break the rule that keeps them apart, and the node is over its target."""
    said = figures(_small_world(), np.array([1, 1, 0]))

    assert said == (
        "1 pods moved, 1 nodes over their target, 0 nodes emptied, 1 others lost pods, 1 moves that no order allows, "
        "1 rules or capacities broken"
    )


def test_world_is_told_to_rebalancer_with_its_pinned_pods_and_its_anti_affinity() -> None:
    """The names are the numbers of pods and nodes."""
    calls = dict(calls_of(_small_world().problem))

    assert calls["set_assignment"] == {"container_to_objects": {"0": ["0", "2"], "1": ["1"], "2": []}}
    assert calls["add_partition"] == {"partition_name": "rule0", "group_to_objects": {"0": ["0", "1"]}}
    pinned = [call["spec"] for name, call in calls_of(_small_world().problem) if name == "add_constraint"]
    assert {"avoidMovingSpec": {"name": "pinned", "objects": ["2"]}} in pinned


def test_rebalancer_without_its_python_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is made then."""
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(MissingDataError, match=r"needs one of Python 3\.12, 3\.13, 3\.14 on the PATH"):
        environment(tmp_path / "cache")

    assert list(tmp_path.iterdir()) == []
