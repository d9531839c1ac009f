"""A hint at preemption is given only where the scheduler preempts."""

from __future__ import annotations

import pytest

from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from tests.builders import make_node, make_pod, make_snapshot


@pytest.mark.parametrize(
    ("post_filter", "hint"),
    [
        pytest.param(
            {}, "it would be scheduled onto b if pod default/low (priority 0) is preempted there", id="by default"
        ),
        pytest.param({"disabled": [{"name": "DefaultPreemption"}]}, "", id="without DefaultPreemption"),
        pytest.param({"disabled": [{"name": "*"}]}, "", id="without any plugin at postFilter"),
    ],
)
def test_profile_that_preempts_nobody_gives_no_hint(post_filter: dict[str, object], hint: str) -> None:
    configuration = load_scheduler_configuration(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"plugins": {"postFilter": post_filter}}],
        },
        plugins=PLUGINS,
    )
    victim = make_pod("victim", node="a", cpu="2", priority=1000, owners=["ReplicaSet/victim"])
    low = make_pod("low", node="b", cpu="2", priority=0, owners=["ReplicaSet/low"])
    nodes = [make_node("a", cpu="2", unschedulable=True), make_node("b", cpu="2")]

    prover = LandingProver(make_snapshot(nodes, [victim, low]), configuration=configuration)

    assert prover.preemption_hint(victim) == hint
