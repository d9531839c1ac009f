"""What of a plan is refused when it is tried out: the pod may still be moved elsewhere."""

from __future__ import annotations

from descheduler.model.pod import Pod
from tests.builders import Object, make_node, make_pod
from tests.planner.choosing import run_choosing, targets
from tests.strategies.runs import evicted

_ZONE = "topology.kubernetes.io/zone"
_EVEN: Object = {
    "maxSkew": 2,
    "topologyKey": _ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}


def web(name: str, node: str) -> Pod:
    owners = [f"ReplicaSet/{name}"]
    return make_pod(name, cpu="2", node=node, labels={"app": "web"}, spread=[_EVEN], owners=owners)


def test_a_pod_whose_nodes_are_refused_one_after_the_other_goes_to_another_zone() -> None:
    """Each pod of node a-1 alone could go to zone b or c. If both did, zone a would have none and another one three."""
    zones = {zone: [f"{zone}-{number}" for number in range(number)] for zone, number in (("a", 3), ("b", 6), ("c", 6))}
    nodes = [make_node(name, cpu="10", labels={_ZONE: zone}) for zone, names in zones.items() for name in names]
    full = {"a-2": "7", "b-0": "6", "c-0": "6"}
    others = ["a-2", *zones["b"], *zones["c"]]
    stay = [make_pod(f"stays-{name}", cpu=full.get(name, "8"), node=name, owners=[]) for name in others]
    spread = [web(f"{name}-{number}", name) for name in ("b-0", "c-0") for number in range(2)]

    decisions = run_choosing("consolidateNodes", nodes, [web("p", "a-1"), web("q", "a-1"), *spread, *stay])

    assert evicted(decisions) == ["p", "q"]
    assert "a-2" in targets(decisions).values()
