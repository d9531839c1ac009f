"""Batches beside pods of which nothing is known, where nobody knows which node each of them gets."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from tests.builders import make_node, make_snapshot
from tests.placement.batches.proofs import cordoned, victim

OF_OTHERS = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"plugins": {"score": {"enabled": [{"name": "Rack"}]}}}],
}
NEAR_NOBODY: dict[str, Any] = {
    "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "none"}}, "topologyKey": "kubernetes.io/hostname"}
        ]
    }
}


@pytest.mark.parametrize(
    ("number", "verdict"),
    [
        pytest.param(1, LandingVerdict.LANDS, id="one has a node whichever it is"),
        pytest.param(2, LandingVerdict.LIKELY, id="two may want the same"),
    ],
)
def test_pods_with_an_open_choice_are_likely_at_best_where_they_may_meet(number: int, verdict: LandingVerdict) -> None:
    unknown = victim("unknown", scheduler="mine", affinity=NEAR_NOBODY)
    snapshot = make_snapshot(
        [make_node("x"), make_node("y"), cordoned()], [*(victim(f"p{place}") for place in range(number)), unknown]
    )
    configuration = load_scheduler_configuration(OF_OTHERS, plugins=PLUGINS)

    joint = LandingProver(snapshot, configuration=configuration).prove(snapshot.pods)

    found = {landing.victim.name: landing.verdict for landing in joint.landings}
    assert found == {**{f"p{place}": verdict for place in range(number)}, "unknown": LandingVerdict.UNKNOWN}
