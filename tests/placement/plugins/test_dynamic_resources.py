"""Resource claims, which a snapshot cannot allocate."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.dynamic_resources import DynamicResources
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster, obstacles


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        pytest.param(
            [{"name": "gpu", "resourceClaimName": "shared-gpu"}],
            "uses resource claims, which a snapshot cannot allocate: shared-gpu",
            id="claims are named",
        ),
        pytest.param(
            [{"name": "gpu", "resourceClaimTemplateName": "gpu"}],
            "uses resource claims, which a snapshot cannot allocate",
            id="claims yet to be made have no name",
        ),
    ],
)
def test_pod_with_claims_is_undecided(claims: list[dict[str, Any]], reason: str) -> None:
    pod = make_pod("new", node="", spec={"resourceClaims": claims})

    against = obstacles(DynamicResources, make_cluster([make_node("a")]), pod)

    assert against == {"*": Obstacle("DynamicResources", Code.UNDECIDED, (reason,))}


def test_pod_without_claims_passes() -> None:
    assert obstacles(DynamicResources, make_cluster([make_node("a")]), make_pod("new", node="")) == {}
