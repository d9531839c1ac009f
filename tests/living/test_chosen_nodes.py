"""Nodes of replacement pods that a plan has chosen: Reservations hold room there, also when a plan is applied."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.live_processes import Cli
from tests.living.builders import deployment, living_cluster, node
from tests.living.cluster import LivingCluster
from tests.migration.roads.whole_runs import WAYS
from tests.policy.builders import koordinator

POLICY = """\
profiles:
- name: p
  pluginConfig:
  - name: MigrationPlanner
    args: {objectives: [{consolidateNodes: {}}], timeLimit: 60s, workLimit: 2, chooseNodes: true}
  - name: MigrationController
    args: {reservationProvider: koordinator, skipCheckExpectedReplicas: true, maxUnavailablePerWorkload: 1}
  plugins: {balance: {enabled: [{name: MigrationPlanner}]}}
"""


@pytest.fixture
def cluster() -> LivingCluster:
    """Node n1 can be emptied onto n2. The scheduler prefers n3, which is empty."""
    facts: dict[str, Any] = {"scheduler": WAYS["reservations"].scheduler, "grace_seconds": 1, "cpu": "1"}
    workloads = [deployment("web", 1, on=["n1"], **facts), deployment("api", 2, on=["n2", "n2"], **facts)]
    return living_cluster([node(name) for name in ("n1", "n2", "n3")], workloads)


@pytest.fixture
def policy() -> str:
    """A policy whose plan chooses nodes."""
    return koordinator(POLICY)


def test_a_replacement_is_scheduled_onto_the_node_that_the_plan_has_chosen(cluster: LivingCluster, cli: Cli) -> None:
    code, out, err = cli.run("-o", "json")

    assert code == 0, err
    (result,) = json.loads(out)["results"]
    assert (result["code"], result["landedOn"], cluster.nodes_of("web")) == ("done", "n2", ["n2"])


def test_an_applied_plan_holds_room_on_the_nodes_that_it_has_chosen(
    cluster: LivingCluster, cli: Cli, tmp_path: Path
) -> None:
    file = tmp_path / "plan.json"
    assert cli.run("--out", str(file), command="plan")[0] == 0
    (move,) = json.loads(file.read_text())["plan"]["moves"]
    assert (move["to"], move["holdsTarget"]) == ("n2", True)

    code, _, err = cli.run(str(file), command="apply")

    assert code == 0, err
    assert cluster.nodes_of("web") == ["n2"]
