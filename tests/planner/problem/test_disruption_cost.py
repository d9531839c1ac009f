"""What the eviction of a pod costs, beside that of others."""

from __future__ import annotations

from descheduler.placement.prover import LandingProver
from descheduler.planner.args import DisruptionCost
from descheduler.planner.problem.disruption_cost import ORDINARY, disruption_costs
from tests.builders import NOW, make_view, pod_object
from tests.placement.workloads import cluster_of, workload_object


def test_eviction_that_fails_a_job_is_the_dearest_however_young_the_pod_is() -> None:
    snapshot = cluster_of(
        pod_object("young", owners=["Job/fragile"], age=1),
        pod_object("old", owners=["Job/patient"], age=900_000),
        pod_object("web", owners=["ReplicaSet/web"], age=900_000, priority=1000),
        workload_object("Job/fragile", completions=1, backoffLimit=0),
        workload_object("Job/patient", completions=1, backoffLimit=6),
        workload_object("ReplicaSet/web"),
    )
    view = make_view(snapshot.nodes, snapshot.pods)

    costs = disruption_costs(
        snapshot.pods, DisruptionCost(), view, NOW, ends_owner=LandingProver(snapshot, now=NOW).ends_owner
    )

    by_name = dict(zip((pod.name for pod in snapshot.pods), costs.tolist(), strict=True))
    assert by_name["young"] > 1000 * ORDINARY
    assert max(by_name["old"], by_name["web"]) < 2 * ORDINARY
