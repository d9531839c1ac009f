"""Soft taints."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.plugins.taint_toleration.score import TaintTolerationScore
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster, scores


@pytest.mark.parametrize(
    ("tolerations", "raw", "final"),
    [
        pytest.param([], [0, 1, 2], [100, 50, 0], id="each soft taint that is not tolerated counts"),
        pytest.param([{"key": "x", "operator": "Exists"}], [0, 0, 1], [100, 100, 0], id="a tolerated one does not"),
        pytest.param([{"operator": "Exists"}], [0, 0, 0], [100, 100, 100], id="without any all nodes are best"),
        pytest.param(
            [{"operator": "Exists", "effect": "NoSchedule"}], [0, 1, 2], [100, 50, 0], id="another effect is not meant"
        ),
        pytest.param(
            [{"key": "x", "operator": "Gt", "value": "0"}], [0, 1, 2], [100, 50, 0], id="Gt tolerates nothing"
        ),
    ],
)
def test_soft_taints_make_a_node_worse(tolerations: list[dict[str, Any]], raw: list[int], final: list[int]) -> None:
    cluster = make_cluster(
        [
            make_node("a", taints=["k=v:NoSchedule"]),
            make_node("b", taints=["x=1:PreferNoSchedule"]),
            make_node("c", taints=["x=1:PreferNoSchedule", "y=2:PreferNoSchedule"]),
        ]
    )

    answer = scores(TaintTolerationScore, cluster, make_pod("new", node="", tolerations=tolerations))

    assert answer == (raw, final)
