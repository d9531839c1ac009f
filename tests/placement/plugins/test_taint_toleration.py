"""Hard and soft taints, and the tolerations that cover them."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.kube_version import KubeVersion
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.taint_toleration import TaintToleration, TaintTolerationScore
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster, obstacles, passing, scores

COMPARING = KubeVersion().with_gates({"TaintTolerationComparisonOperators": True})
ABOVE_3 = {"key": "k", "operator": "Gt", "value": "3"}


@pytest.mark.parametrize(
    ("taint", "toleration", "version", "is_tolerated"),
    [
        pytest.param("k=v:NoSchedule", {"operator": "Exists"}, None, True, id="Exists without a key covers all"),
        pytest.param("k=v:NoSchedule", {"key": "k"}, None, False, id="Equal compares with the empty value"),
        pytest.param("k:NoSchedule", {"key": "k"}, None, True, id="an empty value equals an empty value"),
        pytest.param(
            "k=v:NoExecute",
            {"key": "k", "operator": "Exists", "effect": "NoSchedule"},
            None,
            False,
            id="a toleration of another effect does not count",
        ),
        pytest.param(
            "k=v:NoExecute",
            {"key": "k", "operator": "Exists", "tolerationSeconds": 0},
            None,
            True,
            id="how long it is tolerated plays no part",
        ),
        pytest.param("k=5:NoSchedule", ABOVE_3, COMPARING, True, id="Gt compares numbers once its gate is on"),
        pytest.param("k=5:NoSchedule", ABOVE_3, None, False, id="Gt never tolerates while its gate is off"),
        pytest.param("k=05:NoSchedule", ABOVE_3, COMPARING, False, id="a leading zero makes no number"),
        pytest.param("k=v:PreferNoSchedule", {"key": "other"}, None, True, id="a soft taint rejects nobody"),
    ],
)
def test_taint_is_tolerated_or_not(
    taint: str, toleration: dict[str, Any], version: KubeVersion | None, is_tolerated: bool
) -> None:
    cluster = make_cluster([make_node("a", taints=[taint])], version=version)

    left = passing(TaintToleration, cluster, make_pod("new", node="", tolerations=[toleration]))

    assert left == (["a"] if is_tolerated else [])


def test_every_hard_taint_of_a_node_has_to_be_tolerated() -> None:
    cluster = make_cluster(
        [make_node("a", taints=["k=v:NoSchedule"]), make_node("b", taints=["k=v:NoSchedule", "flaky:NoExecute"])]
    )

    against = obstacles(TaintToleration, cluster, make_pod("new", node="", tolerations=[{"key": "k", "value": "v"}]))

    assert against == {"b": Obstacle("TaintToleration", Code.UNRESOLVABLE, ("node(s) had untolerated taint(s)",))}


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
