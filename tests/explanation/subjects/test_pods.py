from __future__ import annotations

import pytest

from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.request import SnapshotRequest
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.explanation.subjects.pod import PodExplanation, PodFacts, explain_pod, pod_table
from descheduler.explanation.watched_run import FilterAnswer, PluginAnswer
from descheduler.report.document import PodReference
from descheduler.report.tables.table_style import TableStyle
from tests.builders import node_object, pod_object, required_anti_affinity
from tests.explanation.questions import ZONE, pod_explanation, policy_of
from tests.report.decided_cycles import pod_life_time_policy
from tests.strategies.runs import policy_with
from tests.worlds.generate import GENERATED_AT, generate_cluster

NODES = [node_object("a", cpu="2"), node_object("b", cpu="2")]


def ranked(explanation: PodExplanation) -> list[str]:
    """The nodes that take the replacement, in name order."""
    assert explanation.placement is not None
    return sorted(node.node for node in explanation.placement.ranking)


def test_facts_are_those_of_the_snapshot() -> None:
    pod = pod_object("old", cpu="1500m", memory="1Gi", priority=7)

    explanation = pod_explanation("old", [*NODES, pod])

    assert explanation.facts == PodFacts(
        pod=PodReference(namespace="default", name="old", uid="default-old"),
        node="a",
        owner="ReplicaSet/web",
        priority=7,
        qos_class="Burstable",
        phase="Running",
        is_terminating=False,
        age_seconds=3600.0,
        scheduler="default-scheduler",
        requests={"cpu": 1500, "memory": 2**30},
        gang=None,
    )


def test_an_evicted_pod_names_the_plugin_and_its_reason() -> None:
    decision = pod_explanation("old", [*NODES, pod_object("old")], policy_of()).decision

    assert decision is not None
    assert decision.outcome == "evicted"
    assert decision.summary == "evicted by PodLifeTime (profile main): 1 h old (maxPodLifeTimeSeconds: 60)"


def test_a_kept_pod_names_the_first_rule_and_every_plugin_that_wanted_it() -> None:
    policy = policy_of(pod_life_time_policy(["one", "two"]))

    decision = pod_explanation("bare", [*NODES, pod_object("bare", owners=())], policy).decision

    assert decision is not None
    assert decision.outcome == "kept"
    assert decision.summary == (
        "not evicted: selected by PodLifeTime (profile one): 1 h old (maxPodLifeTimeSeconds: 60); "
        "blocked by BarePod: the pod has no owner that recreates it"
    )
    assert decision.answers == tuple(
        PluginAnswer(
            profile=profile,
            plugin="PodLifeTime",
            result="kept",
            reason="1 h old (maxPodLifeTimeSeconds: 60)",
            code="BarePod",
            message="the pod has no owner that recreates it",
            subject="",
        )
        for profile in ("one", "two")
    )


def test_a_refused_request_says_why_the_plugin_asked() -> None:
    policy = policy_of(pod_life_time_policy(maxNoOfPodsToEvictTotal=0))

    decision = pod_explanation("old", [*NODES, pod_object("old")], policy).decision

    assert decision is not None
    assert decision.answers[0].result == "refused"
    assert "1 h old (maxPodLifeTimeSeconds: 60); blocked by LimitReached:" in decision.summary


def test_a_pod_that_a_limit_cut_off_names_the_plugin_its_reason_and_the_limit() -> None:
    policy = policy_of({**pod_life_time_policy(), "maxNoOfPodsToEvictTotal": 1})
    pods = [pod_object(name, age=3600 - index) for index, name in enumerate(("first", "second", "third"))]

    decision = pod_explanation("third", [*NODES, *pods], policy).decision

    assert decision is not None
    assert decision.outcome == "kept"
    (answer,) = decision.answers
    assert (answer.plugin, answer.result, answer.code) == ("PodLifeTime", "kept", "LimitReached")
    assert answer.message == "maxNoOfPodsToEvictTotal (1) reached"
    assert answer.reason


def test_a_pod_that_nobody_asks_for_says_which_filter_would_keep_it() -> None:
    young = pod_object("young", owners=(), age=1, started=1)

    decision = pod_explanation("young", [*NODES, young], policy_of()).decision

    assert decision is not None
    assert (decision.outcome, decision.summary) == ("unwanted", "not selected by any plugin")
    assert decision.filters == (
        FilterAnswer(
            profile="main",
            code="BarePod",
            message="the pod has no owner that recreates it",
            subject="",
        ),
    )


def test_a_run_that_judges_nothing_says_so() -> None:
    decision = pod_explanation("old", [node_object("a"), pod_object("old")], policy_of()).decision

    assert decision is not None
    assert decision.outcome == "unjudged"
    assert decision.summary == "skipped: only 1 ready node matches the policy; at least 2 are required"


def test_the_landing_counts_with_the_evictions_booked_before() -> None:
    nodes = [*NODES, node_object("c", cpu="2")]
    mover = pod_object("first", cpu="2", node_selector={"kubernetes.io/hostname": "c"})

    alone = pod_explanation("second", [*nodes, mover, pod_object("second", node="b", cpu="500m")])
    after = pod_explanation("second", [*nodes, mover, pod_object("second", node="b", cpu="500m")], policy_of())

    assert after.decision is not None
    assert after.decision.num_moves_before == 1
    assert (ranked(alone), ranked(after)) == (["b", "c"], ["a", "b"])


def test_a_pod_that_comes_straight_back_is_marked() -> None:
    term = required_anti_affinity({"app": "web"})
    pods = [pod_object(f"web-{node}", node=node, labels={"app": "web"}, affinity=term) for node in "ab"]

    explanation = pod_explanation("web-a", [*NODES, *pods])

    assert explanation.landing is not None
    assert explanation.landing.returns_to_source
    assert explanation.landing.cold == "no"
    assert explanation.landing.summary == (
        "the replacement pod can be scheduled onto a, the node of the pod itself, but only once the pod is gone"
    )
    assert explanation.placement is not None
    assert [(node.node, node.is_best, node.is_source) for node in explanation.placement.ranking] == [("a", True, True)]


def test_replacement_that_preempts_says_whom() -> None:
    nodes = [node_object("a", cpu="4", taints=["old:NoSchedule"]), node_object("b", cpu="4")]
    pods = [
        pod_object("hi", node="a", cpu="2", priority=100_000),
        pod_object("low", node="b", cpu="3", priority=0, owners=["ReplicaSet/low"]),
        pod_object("mid", node="b", cpu="1", priority=10, owners=["ReplicaSet/mid"]),
    ]

    landing = pod_explanation("hi", [*nodes, *pods]).landing

    assert landing is not None
    assert landing.summary == (
        "the replacement pod can be scheduled by preemption alone: 0/2 nodes are available for the replacement pod:"
        " 1 insufficient cpu, 1 untolerated taint; it would be scheduled onto b if pod default/low (priority 0) is"
        " preempted there"
    )


def test_pod_beside_one_that_fits_in_no_less_full_domain_names_that_one() -> None:
    spread = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    nodes = [node_object("a", labels={ZONE: "1"}), node_object("b", labels={ZONE: "2"}, pods="0")]
    pods = [pod_object(f"web-{number}", labels={"app": "web"}, spread=[spread]) for number in range(2)]
    policy = policy_of(policy_with("RemovePodsViolatingTopologySpreadConstraint", evictor={"nodeFit": False}))

    decision = pod_explanation("web-0", [*nodes, *pods], policy).decision

    assert decision is not None
    assert [miss.message for miss in decision.not_selected] == [
        "other pods are selected, such as default/web-1, which fits on no node in a less full domain"
        f" (topologyBalanceNodeFit: true): the largest skew is 2 pods over {ZONE} in namespace default (maxSkew: 1)"
    ]


def test_nothing_is_placed_for_a_pod_that_nobody_creates_again() -> None:
    explanation = pod_explanation("bare", [*NODES, pod_object("bare", owners=())])

    assert explanation.placement is None
    assert explanation.landing is not None
    assert explanation.landing.verdict is None
    assert explanation.landing.summary == "no replacement pod is created: no controller recreates the pod"


def test_a_pod_of_a_scheduler_that_is_not_known_is_shown_by_the_rules_of_kube_scheduler() -> None:
    pod = pod_object("old", scheduler="volcano")

    explanation = pod_explanation("old", [*NODES, pod])

    assert explanation.landing is not None
    assert explanation.landing.verdict == "likely"
    assert explanation.placement is not None
    assert explanation.placement.num_feasible == 2
    assert explanation.placement.notes == (
        "scheduler volcano is not modelled; the default rules of kube-scheduler are shown",
    )


def test_a_pending_pod_is_explained_without_a_victim() -> None:
    pods = [pod_object("full-a", cpu="2"), pod_object("full-b", node="b", cpu="2")]
    pending = pod_object("new", node="", phase="Pending", cpu="500m")

    explanation = pod_explanation("new", [*NODES, *pods, pending])

    assert explanation.landing is None
    assert explanation.placement is not None
    assert explanation.placement.summary == "0/2 nodes are available: 2 Insufficient cpu"


def test_a_pending_pod_that_fits_says_that_it_is_still_to_come() -> None:
    explanation = pod_explanation("new", [*NODES, pod_object("new", node="", phase="Pending")])

    assert explanation.placement is not None
    assert explanation.placement.num_feasible == 2
    assert explanation.placement.notes[0].startswith("the snapshot shows no cause")


def test_a_finished_pod_without_a_node_is_not_placed() -> None:
    explanation = pod_explanation("done", [*NODES, pod_object("done", node="", phase="Failed")])

    assert (explanation.landing, explanation.placement) == (None, None)


@pytest.mark.long
def test_the_best_nodes_are_those_of_the_landing() -> None:
    """On a cluster in which nothing waits, the analysis and the landing look at the same cluster."""
    builder = SnapshotBuilder("generated", SnapshotRequest(keep_templates=True))
    for page in generate_cluster(nodes=25, pods=400, seed=5):
        builder.add_object(page)
    snapshot = builder.finish(taken_at=GENERATED_AT)
    placed = [pod for pod in snapshot.pods if pod.node_name and not pod.is_terminal][::23]

    explained = [explain_pod(pod, snapshot, SchedulingSettings(), now=GENERATED_AT)[0] for pod in placed]

    judged = [each for each in explained if each.landing is not None and each.placement is not None]
    assert len(judged) > 10
    for each in judged:
        assert each.landing is not None
        assert each.placement is not None
        best = tuple(node.node for node in each.placement.ranking if node.is_best)
        assert best == each.landing.nodes or each.landing.verdict != "lands", each.facts.pod
        assert (each.placement.num_feasible == 0) == (each.landing.verdict == "no"), each.facts.pod


def test_a_selected_pod_has_no_line_of_the_plugins_that_select_it() -> None:
    decision = pod_explanation("old", [node_object("a"), node_object("b"), pod_object("old")], policy_of()).decision

    assert decision is not None
    assert decision.not_selected == ()


def test_of_a_pending_pod_nothing_is_said_about_filters() -> None:
    pending = pod_object("new", node="", phase="Pending", owners=[])

    explanation = pod_explanation("new", [*NODES, pending], policy_of())

    assert explanation.decision is not None
    assert explanation.decision.filters == ()
    assert "EVICTABLE" not in "\n".join(pod_table(explanation, TableStyle(is_wide=True)))
