"""Plugins with a nodeSelector leave the pods of all other nodes alone, and say so."""

from __future__ import annotations

import pytest

from tests.builders import Object, node_object, pod_object
from tests.explanation.questions import pod_explanation, policy_of
from tests.strategies.decided_worlds import LEVELS
from tests.strategies.runs import policy_with


@pytest.mark.parametrize(
    ("plugin", "args"), [("CustomPriority", LEVELS), ("FragmentationAware", {}), ("ScaleDownBinPack", {})]
)
def test_pods_on_other_nodes_are_said_to_be_there(plugin: str, args: Object) -> None:
    nodes = [node_object(name, labels={"zone": zone}) for name, zone in (("a", "1"), ("b", "2"), ("c", "3"))]
    pods = [pod_object("p", node="a"), pod_object("q", node="c")]
    selector = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["1", "2"]}]}
    policy = policy_of(policy_with(plugin, args={**args, "nodeSelector": selector}))

    decisions = [pod_explanation(name, [*nodes, *pods], policy).decision for name in ("p", "q")]

    said = [[miss.message for miss in each.not_selected] for each in decisions if each is not None]
    assert said[1] == ["node c does not match nodeSelector"]
    assert not any("nodeSelector" in message for message in said[0])
