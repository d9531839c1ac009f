"""What a plan says of replacements that may miss the room that is held for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from descheduler import evaluate
from tests.builders import NOW, Object, node_object, pod_object
from tests.placement.workloads import workload_object
from tests.planner.choosing import choosing_policy

_EMPTIED: Object = {"consolidateNodes": {}}


def _notes(num_free: int, policy: Object, *, num_moved: int = 1) -> list[str]:
    """Notes on a plan that empties node a onto b, where as many other nodes have room; pods of them cannot move."""
    names = [f"n{number:03}" for number in range(num_free)]
    objects = [node_object(name, cpu="10") for name in ("a", *names)]
    objects += [pod_object(f"fixed-{name}", cpu="6", node=name, owners=[]) for name in names]
    for number in range(num_moved):
        owner = f"ReplicaSet/p{number}"
        objects.append(pod_object(f"p{number}", cpu="1", node="a", owners=[owner]))
        objects.append(workload_object(owner, template=pod_object("t", cpu="1")))
    decisions = evaluate(policy, objects, now=NOW).decisions
    assert len(decisions.moves) == num_moved
    return [note for note in decisions.notes if "replacement pod" in note]


def test_plan_says_that_a_scheduler_does_not_look_at_all_nodes() -> None:
    notes = [_notes(110, choosing_policy(_EMPTIED), num_moved=number) for number in (1, 2)]

    why = (
        " (chooseNodes: true), because the scheduler looks at a part of the 111 nodes only; set"
        " percentageOfNodesToScore: 100 in the configuration of the scheduler, and name that file in"
        " schedulerConfigFile of PlacementVerification"
    )
    assert notes == [
        [f"profile p: 1 replacement pod can be scheduled onto another node than the plan chose{why}"],
        [f"profile p: 2 replacement pods can be scheduled onto other nodes than the plan chose{why}"],
    ]


def test_nothing_is_said_where_the_scheduler_looks_at_all_nodes(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.yaml"
    kind = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    file.write_text(f"{kind}percentageOfNodesToScore: 100\n", "utf-8")
    policy = choosing_policy(_EMPTIED)
    verification: dict[str, Any] = {"name": "PlacementVerification", "args": {"schedulerConfigFile": str(file)}}
    policy["profiles"][0]["pluginConfig"].append(verification)

    assert _notes(110, policy) == []


def test_nothing_is_said_of_a_small_cluster() -> None:
    assert _notes(90, choosing_policy(_EMPTIED)) == []
