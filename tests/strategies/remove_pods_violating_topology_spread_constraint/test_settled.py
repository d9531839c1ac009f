"""Whether pods leave the topology domain that a moved pod comes to."""

from __future__ import annotations

import pytest

from descheduler.strategies.remove_pods_violating_topology_spread_constraint.constraints import distinct_constraints
from descheduler.strategies.remove_pods_violating_topology_spread_constraint.settled import SettledDomains
from tests.builders import make_node, make_pod, make_view

SPREAD = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}


def excess(sizes: list[int]) -> str:
    """Why pods leave zone z0 once one pod more is there, beside so many in zone z0, z1 and so on."""
    own = {"labels": {"app": "web"}, "spread": [SPREAD]}
    pods = [make_pod(f"z{zone}-{i}", node=f"n{zone}", **own) for zone, size in enumerate(sizes) for i in range(size)]
    nodes = [make_node(f"n{zone}", labels={"zone": f"z{zone}"}) for zone in range(len(sizes))]
    (constraint,) = distinct_constraints(pods, ["DoNotSchedule"])
    settled = SettledDomains(nodes, make_view(nodes, pods, moves_take_effect=True), lambda _: True)
    return settled.excess(make_pod("arrival", node="n0", **own), constraint)


@pytest.mark.parametrize(
    "sizes",
    [pytest.param([1, 1], id="no domain has too many pods"), pytest.param([0, 3], id="another domain has too many")],
)
def test_no_pod_leaves_the_domain_of_an_arrival_where(sizes: list[int]) -> None:
    assert excess(sizes) == ""


def test_pods_leave_the_domain_of_an_arrival_that_has_too_many() -> None:
    assert "z0" in excess([2, 1])
