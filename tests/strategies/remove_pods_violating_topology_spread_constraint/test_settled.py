"""Whether pods leave the topology domain that a moved pod comes to."""

from __future__ import annotations

from typing import ClassVar

import pytest

from descheduler.eviction.cluster_view import ClusterView
from descheduler.model.pod import Pod
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


class TestChanges:
    """Two pods in each of two zones, and moves that go on while it is asked."""

    own: ClassVar = {"labels": {"app": "web"}, "spread": [SPREAD]}
    nodes: ClassVar = [make_node(f"n{zone}", labels={"zone": f"z{zone}"}) for zone in range(2)]

    def world(self, *others: Pod) -> tuple[list[Pod], ClusterView, SettledDomains]:
        """The pods, the cluster, and its domains, which have been asked once: nothing is too full yet."""
        pods = [make_pod(f"z{zone}-{each}", node=f"n{zone}", **self.own) for zone in range(2) for each in range(2)]
        view = make_view(self.nodes, [*pods, *others], moves_take_effect=True)
        settled = SettledDomains(self.nodes, view, lambda pod: pod.namespace != "kube-system")
        assert self.excess(settled) == ""
        return pods, view, settled

    def excess(self, settled: SettledDomains, node: str = "n0") -> str:
        """Whether pods leave once one more is on the node."""
        arrival = make_pod("arrival", node=node, **self.own)
        (constraint,) = distinct_constraints([arrival], ["DoNotSchedule"])
        return settled.excess(arrival, constraint).partition(" than")[0]

    def test_pods_that_leave_another_domain_make_this_one_too_full(self) -> None:
        pods, view, settled = self.world()

        view.book_eviction(pods[3])

        assert self.excess(settled) == "z0 has 2 more pods"
        assert self.excess(settled, "n1") == ""

    def test_pods_that_come_count_and_go_again_when_the_move_is_taken_back(self) -> None:
        pods, view, settled = self.world()

        undo = view.book_eviction(pods[3], make_pod("z1-1+", node="n0", uid="", **self.own))
        booked = self.excess(settled)
        undo()

        assert (booked, self.excess(settled)) == ("z0 has 3 more pods", "")

    def test_pods_that_do_not_count_change_nothing(self) -> None:
        others = [
            make_pod("plain", node="n1"),
            make_pod("ends", node="n1", deleted=5, **self.own),
            make_pod("done", node="n1", phase="Failed", **self.own),
            make_pod("shop", node="n1", namespace="shop", **self.own),
        ]
        _, view, settled = self.world(*others)

        for pod in others:
            view.book_eviction(pod)

        assert self.excess(settled) == ""

    def test_other_pods_that_come_change_nothing(self) -> None:
        pods, view, settled = self.world(make_pod("plain", node="n1"))

        view.book_eviction(pods[3], make_pod("db", node="n1", uid="", labels={"app": "db"}))

        assert self.excess(settled) == "z0 has 2 more pods"

    def test_node_of_no_domain_has_no_excess(self) -> None:
        _, _, settled = self.world()

        assert self.excess(settled, "other") == ""
