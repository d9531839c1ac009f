"""Young features: a pod that uses one needs a node that declares it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from descheduler.model.node import Node
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.node_declared_features import ROW, NodeDeclaredFeatures
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster, obstacles, passing
from tests.placement.plugins.explanations import told

RESTART = "RestartAllContainersOnContainerExits"
HOST_USERS = "UserNamespacesHostNetworkSupport"
RESTARTING = {"name": "c", "image": "i", "restartPolicyRules": [{"action": "RestartAllContainers"}]}


def _declaring(name: str, *features: str) -> Node:
    return msgspec.structs.replace(make_node(name), declared_features=frozenset(features))


@pytest.mark.parametrize(
    ("spec", "left"),
    [
        pytest.param({}, ["bare", "both", "restart"], id="an ordinary pod runs anywhere"),
        pytest.param({"containers": [RESTARTING]}, ["both", "restart"], id="a rule that restarts all containers"),
        pytest.param({"initContainers": [RESTARTING]}, ["both", "restart"], id="the same of an init container"),
        pytest.param(
            {"containers": [RESTARTING | {"restartPolicyRules": [{"action": "Restart"}]}]},
            ["bare", "both", "restart"],
            id="a rule that restarts one container is older",
        ),
        pytest.param({"hostNetwork": True, "hostUsers": False}, ["both"], id="own users on the host's network"),
        pytest.param({"hostUsers": False}, ["bare", "both", "restart"], id="own users on a network of its own"),
    ],
)
def test_features_that_a_spec_implies_have_to_be_declared(spec: dict[str, Any], left: list[str]) -> None:
    cluster = make_cluster(
        [_declaring("bare"), _declaring("both", RESTART, HOST_USERS), _declaring("restart", RESTART)]
    )

    assert passing(NodeDeclaredFeatures, cluster, make_pod("new", node="", spec=spec)) == left


def test_missing_features_are_told_as_the_scheduler_tells_them() -> None:
    spec = {"containers": [RESTARTING], "hostNetwork": True, "hostUsers": False}

    against = obstacles(NodeDeclaredFeatures, make_cluster([_declaring("a")]), make_pod("new", node="", spec=spec))

    reason = "node(s) didn't match Pod's required features"
    assert against == {"a": Obstacle("NodeDeclaredFeatures", Code.UNRESOLVABLE, (reason,))}


def test_explanation_names_the_features_that_the_node_does_not_declare() -> None:
    pod = make_pod("new", node="", spec={"hostNetwork": True, "hostUsers": False, "containers": [RESTARTING]})

    found = told(ROW, make_cluster([_declaring("a", RESTART)]), pod)

    assert found == [f"the node does not declare {HOST_USERS}"]
