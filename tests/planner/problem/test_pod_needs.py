"""What pods need at least, where their replacements may request less."""

from __future__ import annotations

from descheduler.model.groups.workloads import Workload
from descheduler.placement.prover import LandingProver
from descheduler.planner.problem.pod_needs import least_needs, needs_of
from tests.builders import make_node, make_pod, make_snapshot


def test_a_pod_needs_at_least_what_it_or_its_smallest_replacement_requests() -> None:
    p = make_pod("p", cpu="4", memory="1Gi", owners=["ReplicaSet/p"])
    q = make_pod("q", cpu="3", owners=["ReplicaSet/q"])
    template = make_pod("p", cpu="1", memory="2Gi", node="")
    uid = p.owners[0].uid
    owner = Workload("ReplicaSet", "default", "p", uid, 1, template=template)
    openings = LandingProver(make_snapshot([make_node("a")], [p, q], workloads={uid: owner})).openings()

    assert needs_of([p, q], openings)[:, :2].tolist() == [[4000, 2**30], [3000, 0]]
    assert least_needs([p, q], [p], openings)[:, :2].tolist() == [[1000, 2**30], [3000, 0]]
    assert least_needs([p, q], [], openings)[:, :2].tolist() == [[4000, 2**30], [3000, 0]]
