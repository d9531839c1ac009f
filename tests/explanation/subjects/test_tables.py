from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from descheduler.explanation.explaining import explanation_type
from descheduler.explanation.landings import ExplainedLanding, LandingCount
from descheduler.explanation.scheduling.placement import (
    Deficit,
    NearMiss,
    NodeObstacle,
    ObstacleCount,
    PlacementAnalysis,
    RankedNode,
)
from descheduler.explanation.subjects.group import ExplainedPod, GroupExplanation
from descheduler.explanation.subjects.node.document import NodeExplanation, NodeFacts, NodeResource
from descheduler.explanation.subjects.pod import PodExplanation, PodFacts
from descheduler.explanation.watched_run import PluginMiss, PodDecision
from descheduler.report.document import PodReference
from descheduler.report.formats.render import Format, render
from descheduler.report.plan.document import LandingCause, PlannedAllocation
from descheduler.report.subjects import SUBJECTS
from descheduler.report.tables.table_style import TableStyle
from tests.builders import NOW


def short_of_cpu(node: str, missing: int) -> NearMiss:
    """A node that lacks `missing` milli cores."""
    deficit = Deficit(resource="cpu", missing=missing, requested=500, free=500 - missing, allocatable=4000)
    obstacle = NodeObstacle(
        plugin="NodeResourcesFit",
        finality="unschedulable",
        reasons=("Insufficient cpu",),
        details=(f"{missing}m CPU short",),
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
    gang=None,
)
LANDING = ExplainedLanding(
    summary="the replacement pod can be scheduled onto b",
    source="template",
    returns="at once",
    verdict="lands",
    cold="lands",
    settled="lands",
    node="b",
    nodes=("b",),
    total=390,
    margin=10,
    node_cause="",
    is_sampled=False,
    returns_to_source=False,
    conditions=(),
    message="",
    cause="",
    allocations=(
        PlannedAllocation(plugin="DeviceShare", kind="gpu", name="3", resources={"koordinator.sh/gpu-core": 50}),
    ),
    notes=(),
)
PLACEMENT = PlacementAnalysis(
    scheduler="default-scheduler",
    summary="2/7 nodes are available",
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
    quota=None,
)
DECISION = PodDecision(
    outcome="unwanted",
    summary="not selected by any plugin",
    answers=(),
    not_selected=(PluginMiss(profile="main", plugin="PodLifeTime", message="3 h old (maxPodLifeTimeSeconds: 86400)"),),
    filters=(),
    num_moves_before=0,
    wave=None,
    num_waves=0,
)


def text_of(
    pod: PodExplanation | None = None,
    node: NodeExplanation | None = None,
    output_format: Format = "table",
    group: GroupExplanation | None = None,
    warnings: tuple[str, ...] = (),
    width: int | None = None,
) -> str:
    parts: dict[str, Any] = dict.fromkeys(subject.field for subject in SUBJECTS)
    explanation = explanation_type()(
        api_version="descheduler.plan/v1",
        kind="Explanation",
        now=NOW,
        policy=None,
        snapshot=None,
        warnings=warnings,
        **parts | {"pod": pod, "node": node, "group": group},
    )
    return "".join(render(explanation, output_format, TableStyle(width=width)))


def test_the_wave_of_an_evicted_pod_is_said_where_there_are_several() -> None:
    evicted = msgspec.structs.replace(DECISION, outcome="evicted", wave=2, num_waves=3)
    alone = msgspec.structs.replace(evicted, wave=1, num_waves=1)

    texts = [
        text_of(PodExplanation(facts=FACTS, volcano=None, decision=each, landing=LANDING, placement=PLACEMENT))
        for each in (evicted, alone)
    ]

    assert "Wave:   2 of 3 (starts when wave 1 has ended)\n" in texts[0]
    assert "Wave:" not in texts[1]


def test_a_pod_is_shown_from_its_facts_to_the_nearest_misses() -> None:
    pod = PodExplanation(facts=FACTS, volcano=None, decision=DECISION, landing=LANDING, placement=PLACEMENT)

    assert text_of(pod) == (
        "Pod shop/cart\n"
        "NODE   OWNER             PHASE     AGE\n"
        "a      ReplicaSet/cart   Running   2d3h\n"
        "\n"
        "PRIORITY   QOS         SCHEDULER           REQUESTS\n"
        "-          Burstable   default-scheduler   cpu 500m\n"
        "\n"
        "Decision: not selected by any plugin\n"
        "  PodLifeTime: 3 h old (maxPodLifeTimeSeconds: 86400)\n"
        "\n"
        "If evicted: the replacement pod can be scheduled onto b\n"
        "allocated on b: gpu 3\n"
        "\n"
        "placement of the replacement pod: 2/7 nodes are available\n"
        "a note\n"
        "\n"
        "AVAILABLE NODE   TOTAL   NodeResourcesFit   REMARK\n"
        "b                390     90                 best\n"
        "a                380     80                 current node\n"
        "\n"
        "NODES   ONLY REASON   PLUGIN             REASON\n"
        "5       5             NodeResourcesFit   Insufficient cpu\n"
        "\n"
        "NODE THAT NEARLY FITS   PLUGIN             REASON\n"
        "full-100                NodeResourcesFit   100m CPU short\n"
        "full-200                NodeResourcesFit   200m CPU short\n"
        "\n"
        "3 more nodes are blocked by 1 plugin (-o wide shows more)\n"
        "\n"
    )


def test_sentences_about_a_pod_are_wrapped_on_a_terminal() -> None:
    summary = f"the replacement pod would stay pending: {'1 node is full, ' * 9}"
    placement = msgspec.structs.replace(PLACEMENT, summary=f"0/7 nodes are available: {'1 Insufficient cpu, ' * 9}")
    pod = PodExplanation(
        volcano=None,
        facts=FACTS,
        decision=DECISION,
        landing=msgspec.structs.replace(LANDING, summary=summary),
        placement=placement,
    )

    lines = text_of(pod, width=120).splitlines()

    assert max(map(len, lines)) <= 120


def test_the_causes_that_kube_scheduler_counts_are_told_from_those_of_the_table() -> None:
    placement = msgspec.structs.replace(PLACEMENT, summary="0/7 nodes are available: 7 Insufficient cpu")

    text = text_of(PodExplanation(facts=FACTS, volcano=None, decision=DECISION, landing=LANDING, placement=placement))

    assert "0/7 nodes are available\n" in text
    assert "(each node counted once): 7 Insufficient cpu\n" in text


def test_wide_tables_show_all_scores_all_misses_and_both_clocks() -> None:
    pod = PodExplanation(facts=FACTS, volcano=None, decision=None, landing=LANDING, placement=PLACEMENT)

    text = text_of(pod, output_format="wide")

    assert "TaintToleration" in text
    assert "full-300" in text
    assert "lands     lands             lands         template    at once   10       b" in text


def test_a_pod_with_nothing_to_place_says_so() -> None:
    pod = PodExplanation(facts=FACTS, volcano=None, decision=None, landing=None, placement=None)

    assert "so no placement is predicted" in text_of(pod)


def test_a_pod_that_cannot_be_scored_says_why() -> None:
    placement = msgspec.structs.replace(PLACEMENT, score_error="a term cannot be read", ranking=())

    text = text_of(PodExplanation(facts=FACTS, volcano=None, decision=None, landing=None, placement=placement))

    assert "the pod cannot be scored: a term cannot be read" in text
    assert "2 available nodes" in text


@pytest.mark.parametrize(
    ("planned", "expected"),
    [
        pytest.param(
            500,
            "RESOURCE   ALLOCATABLE   REQUESTED   SHARE\ncpu        4             500m        12.5%\n",
            id="nothing changes",
        ),
        pytest.param(
            1000,
            "RESOURCE   ALLOCATABLE   REQUESTED   SHARE   AFTER RUN   SHARE\n"
            "cpu        4             500m        12.5%   1           25%\n",
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
        batch=(),
        devices=(),
    )
    node = NodeExplanation(
        facts=facts,
        role="without policy",
        unjudged="",
        departures=(),
        stays=(),
        stay_counts=(),
        not_selected=(),
        arrivals=(),
        pending_pods=(),
        landings=(),
        landing_counts=(),
        causes=(),
        drain_blockers=(),
        blocked_in_run="",
    )

    text = text_of(node=node)

    assert text.startswith(
        "NODE   STATUS                     PODS   TAINTS\na      Ready,SchedulingDisabled   1      none\n"
    )
    assert expected in text


def explained(name: str, **facts: object) -> ExplainedPod:
    """A pod of the workload shop/cart that no plugin selects, unless the facts say otherwise."""
    base = ExplainedPod(
        pod=PodReference(namespace="shop", name=name, uid=name),
        node="a",
        outcome="unwanted",
        plugin="",
        reason="",
        code="",
        message="",
        subject="",
        landing=None,
        to_node=None,
        landing_message="",
    )
    return msgspec.structs.replace(base, **facts)


def test_a_workload_is_a_table_of_its_pods_that_says_each_cause_once() -> None:
    gone = {"outcome": "evicted", "plugin": "PodLifeTime", "reason": "3 h old", "landing": "likely", "to_node": "b"}
    group = GroupExplanation(
        volcano=None,
        kind="Deployment",
        namespace="shop",
        name="cart",
        unjudged="",
        pods=(explained("one", **gone), explained("two", **gone), explained("three")),
        landing_counts=(LandingCount(verdict="likely", num_pods=2),),
        causes=(LandingCause(verdict="likely", cause="gangs are not modelled (Coscheduling)", num_pods=2),),
    )

    assert "PLUGIN" in text_of(group=group, output_format="wide")
    assert text_of(group=group) == (
        "NAMESPACE   POD     NODE   DECISION       TARGET   REASON\n"
        "shop        one     a      evicted        ~b       PodLifeTime: 3 h old\n"
        "shop        two     a      evicted        ~b       as above\n"
        "shop        three   a      not selected   -        -\n"
        "\n"
        "Replacement pods: 2 likely (gangs are not modelled (Coscheduling))\n"
        "\n"
        "Deployment shop/cart: 3 pods, 2 would be evicted, 1 not selected by any plugin\n"
    )


def test_warnings_come_last_and_print_safely() -> None:
    assert text_of(warnings=("bad \x1b[31m",)) == "warning: bad \\x1b[31m\n"
