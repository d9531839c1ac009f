from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest

from descheduler.report.document import PodReference
from descheduler.report.explanation.document import Explanation
from descheduler.report.explanation.node import NodeExplanation, NodeFacts, NodeResource
from descheduler.report.explanation.placement import (
    Deficit,
    NearMiss,
    NodeObstacle,
    ObstacleCount,
    PlacementAnalysis,
    RankedNode,
)
from descheduler.report.explanation.pod import ExplainedLanding, PodDecision, PodExplanation, PodFacts
from descheduler.report.render import Format, render
from tests.builders import NOW


def short_of_cpu(node: str, missing: int) -> NearMiss:
    """A node that lacks `missing` milli cores."""
    deficit = Deficit(resource="cpu", missing=missing, requested=500, free=500 - missing, allocatable=4000)
    obstacle = NodeObstacle(
        plugin="NodeResourcesFit",
        finality="unschedulable",
        reasons=("Insufficient cpu",),
        details=(f"needs {missing}m cpu more",),
        deficits=(deficit,),
    )
    return NearMiss(node=node, is_source=False, obstacles=(obstacle,))


def ranked(node: str, fit: int, *, is_best: bool = False, is_source: bool = False) -> RankedNode:
    """A node with two plugins' scores, of which one is the same everywhere."""
    scores = {"NodeResourcesFit": fit, "TaintToleration": 300}
    return RankedNode(node=node, total=fit + 300, is_best=is_best, is_source=is_source, scores=scores)


FACTS = PodFacts(
    pod=PodReference(namespace="shop", name="cart", uid="uid-cart"),
    node="a",
    owner="ReplicaSet/cart",
    priority=None,
    qos_class="Burstable",
    phase="Running",
    is_terminating=False,
    age_seconds=timedelta(days=2, hours=3, minutes=4).total_seconds(),
    scheduler="default-scheduler",
    requests={"cpu": 500},
)
LANDING = ExplainedLanding(
    summary="its replacement lands on b",
    source="template",
    returns="at once",
    verdict="lands",
    cold="lands",
    settled="lands",
    node="b",
    nodes=("b",),
    total=390,
    margin=10,
    is_sampled=False,
    returns_to_source=False,
    conditions=(),
    message="",
    cause="",
    notes=(),
)
PLACEMENT = PlacementAnalysis(
    scheduler="default-scheduler",
    summary="2 of 7 nodes take it",
    num_nodes=7,
    num_feasible=2,
    is_queued=True,
    refusals=(),
    obstacles=(ObstacleCount(plugin="NodeResourcesFit", reason="Insufficient cpu", num_nodes=5, num_alone=5),),
    misses=tuple(short_of_cpu(f"full-{missing}", missing) for missing in (100, 200, 300)),
    num_misses=5,
    ranking=(ranked("b", 90, is_best=True), ranked("a", 80, is_source=True)),
    margin=10,
    score_error="",
    notes=("a note",),
)
DECISION = PodDecision(
    outcome="unwanted", summary="stays: no plugin asks for it", answers=(), filters=(), num_moves_before=0
)


def text_of(
    pod: PodExplanation | None = None,
    node: NodeExplanation | None = None,
    output_format: Format = "table",
    warnings: tuple[str, ...] = (),
) -> str:
    explanation = Explanation(
        api_version="descheduler.plan/v1",
        kind="Explanation",
        now=NOW,
        policy=None,
        snapshot=None,
        pod=pod,
        node=node,
        plugin=None,
        warnings=warnings,
    )
    return "".join(render(explanation, output_format))


def test_a_pod_is_shown_from_its_facts_to_the_nearest_misses() -> None:
    pod = PodExplanation(facts=FACTS, decision=DECISION, landing=LANDING, placement=PLACEMENT)

    assert text_of(pod) == (
        "NAMESPACE   POD    NODE   OWNER             PHASE     AGE    PRIORITY   QOS         SCHEDULER           "
        "REQUESTS\n"
        "shop        cart   a      ReplicaSet/cart   Running   2d3h   -          Burstable   default-scheduler   "
        "cpu 500m\n"
        "\n"
        "decision: cart stays: no plugin asks for it\n"
        "\n"
        "landing: its replacement lands on b\n"
        "\n"
        "placement of the pod created instead: 2 of 7 nodes take it\n"
        "a note\n"
        "\n"
        "NODE THAT TAKES IT   TOTAL   NodeResourcesFit   REMARK\n"
        "b                    390     90                 best\n"
        "a                    380     80                 it leaves this node\n"
        "\n"
        "NODES   ALONE   AGAINST IT         REASON\n"
        "5       5       NodeResourcesFit   Insufficient cpu\n"
        "\n"
        "NEAREST MISS   OBSTACLE           WHAT IS MISSING\n"
        "full-100       NodeResourcesFit   needs 100m cpu more\n"
        "full-200       NodeResourcesFit   needs 200m cpu more\n"
        "\n"
        "5 nodes have as few plugins against the pod as these; -o wide shows more of them\n"
        "\n"
    )


def test_wide_tables_show_all_scores_all_misses_and_both_clocks() -> None:
    pod = PodExplanation(facts=FACTS, decision=None, landing=LANDING, placement=PLACEMENT)

    text = text_of(pod, output_format="wide")

    assert "TaintToleration" in text
    assert "full-300" in text
    assert "lands     lands   lands     template    at once      10       b" in text


def test_a_pod_with_nothing_to_place_says_so() -> None:
    pod = PodExplanation(facts=FACTS, decision=None, landing=None, placement=None)

    assert "so nothing is to be placed" in text_of(pod)


def test_a_pod_that_cannot_be_scored_says_why() -> None:
    placement = msgspec.structs.replace(PLACEMENT, score_error="a term cannot be read", ranking=())

    text = text_of(PodExplanation(facts=FACTS, decision=None, landing=None, placement=placement))

    assert "the pod cannot be scored: a term cannot be read" in text
    assert "nodes that pass every filter: 2" in text


@pytest.mark.parametrize(
    ("planned", "expected"),
    [
        pytest.param(
            500,
            "RESOURCE   ALLOCATABLE   REQUESTED   SHARE\ncpu        4             500m        12%\n",
            id="nothing changes",
        ),
        pytest.param(
            1000,
            "RESOURCE   ALLOCATABLE   REQUESTED   SHARE   AFTER THE RUN   SHARE\n"
            "cpu        4             500m        12%     1               25%\n",
            id="a replacement comes",
        ),
    ],
)
def test_a_node_shows_how_full_it_is_and_will_be(planned: int, expected: str) -> None:
    facts = NodeFacts(
        name="a",
        is_ready=True,
        is_cordoned=True,
        taints=(),
        num_pods=1,
        resources=(NodeResource(resource="cpu", allocatable=4000, requested=500, planned=planned),),
    )
    node = NodeExplanation(
        facts=facts,
        role="without policy",
        unjudged="",
        departures=(),
        stays=(),
        stay_counts=(),
        arrivals=(),
        landings=(),
    )

    text = text_of(node=node)

    assert text.startswith(
        "NODE   STATUS                     PODS   TAINTS\na      Ready,SchedulingDisabled   1      none\n"
    )
    assert expected in text


def test_warnings_come_last_and_print_safely() -> None:
    assert text_of(warnings=("bad \x1b[31m",)) == "warning: bad \\x1b[31m\n"
