"""Why a node does not take a pod: which labels are missing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from descheduler.placement.plugins.node_affinity import ROW, NodeAffinityArgs
from tests.builders import make_node, make_pod, required_node_affinity


@pytest.mark.parametrize(
    ("facts", "reasons"),
    [
        pytest.param({"node_selector": {"disk": "ssd"}}, 1, id="nodeSelector"),
        pytest.param({"affinity": required_node_affinity("disk", "ssd")}, 1, id="node affinity"),
        pytest.param(
            {"node_selector": {"disk": "ssd"}, "affinity": required_node_affinity("zone", "a")}, 2, id="both of them"
        ),
        pytest.param({"affinity": {"podAffinity": {}}}, 0, id="neither"),
    ],
)
def test_each_label_that_is_missing_is_told(facts: dict[str, Any], reasons: int) -> None:
    scheduler = SimpleNamespace(args_of=lambda kind: NodeAffinityArgs())
    refused = SimpleNamespace(pod=make_pod("p", **facts), node=make_node("a"), scheduler=scheduler)

    assert ROW.explain is not None
    told = list(ROW.explain(cast(Any, refused), cast(Any, None)))

    assert len(told) == reasons
    assert all("requires" in each for each in told)
