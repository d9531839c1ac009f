"""Plugin task-topology (volcano.md §9.4), which is not modelled, says nothing of jobs without its annotations."""

from __future__ import annotations

import pytest

from descheduler.placement.landings.landing import LandingVerdict
from tests.placement.volcano.worlds import group, node, owned, plugin, pods, prover_of

_DOCUMENT = {
    "actions": "enqueue, allocate",
    "tiers": [{"plugins": [plugin("gang"), plugin("predicates"), plugin("task-topology")]}],
}


@pytest.mark.parametrize(
    ("annotations", "verdict", "cause"),
    [
        pytest.param({}, LandingVerdict.LANDS, "", id="no annotation"),
        pytest.param({"other/affinity": "ps,worker"}, LandingVerdict.LANDS, "", id="an annotation of others"),
        pytest.param(
            {"volcano.sh/task-topology-anti-affinity": "ps"},
            LandingVerdict.LIKELY,
            "parts of Volcano that are not modelled: task-topology",
            id="an annotation of the plugin",
        ),
    ],
)
def test_landing_is_certain_without_the_annotations_of_the_plugin(
    annotations: dict[str, str], verdict: LandingVerdict, cause: str
) -> None:
    job = group("job", phase="Running")
    job["metadata"]["annotations"] = annotations
    prover, found = prover_of(
        node("a"), node("b"), job, owned(pods("job", 1, on="a", role="ps")), configuration=_DOCUMENT
    )

    landing = prover.consider(found["jobps-0"])

    assert (landing.verdict, landing.cause) == (verdict, cause)
