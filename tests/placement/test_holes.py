"""What upstream's NodeFit (kubernetes-sigs/descheduler 0.36) answers, and what the landing prover does.

Each test is named after a hole, a way in which NodeFit differs from a scheduling decision. Upstream's answer is that
of `eviction.node_fit`, which reproduces it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from descheduler import evaluate
from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.checks.budgets import BudgetLedger
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.node_fit import NodeFit
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.model.selection.labels import EVERYTHING
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from tests.builders import NOW, Object, container_status, node_object, pod_object
from tests.placement import filter_holes
from tests.placement.filter_holes import FULL
from tests.placement.workloads import cluster_of, pod_named, workload_object

LANDS, LANDS_IF, LIKELY, NO = (
    LandingVerdict.LANDS,
    LandingVerdict.LANDS_IF,
    LandingVerdict.LIKELY,
    LandingVerdict.NO,
)


def upstream_fits(snapshot: Snapshot, pod: Pod, nodes: Sequence[str] | None = None) -> bool:
    """Whether NodeFit finds another node for `pod` among all ready ones, or those named."""
    view = ClusterView(snapshot, moves_take_effect=False)
    fit = NodeFit(view)
    chosen = [node for node in view.ready_nodes(EVERYTHING) if nodes is None or node.name in nodes]
    return fit.fits_any_other(pod, fit.node_set(chosen))


def our_landing(snapshot: Snapshot, pod: Pod, configuration: Mapping[str, object] | None = None) -> Landing:
    """The landing of `pod` with nothing booked, under kube-scheduler's defaults unless configured otherwise."""
    given = None if configuration is None else load_scheduler_configuration(configuration, plugins=PLUGINS)
    return LandingProver(snapshot, configuration=given).consider(pod)


def _case(build: Callable[[], Snapshot], upstream: bool, ours: LandingVerdict) -> object:
    return pytest.param(build, upstream, ours, id=build.__name__)


@pytest.mark.parametrize(
    ("build", "upstream", "ours"),
    [
        _case(filter_holes.hole_11_required_pod_affinity, True, NO),
        _case(filter_holes.hole_12_anti_affinity_of_existing_pods, True, NO),
        _case(filter_holes.hole_13_anti_affinity_over_a_zone, True, NO),
        _case(filter_holes.hole_14_namespace_selector, True, NO),
        _case(filter_holes.hole_14_mismatch_label_keys, True, NO),
        _case(filter_holes.hole_15_same_name_in_another_namespace, True, NO),
        _case(filter_holes.hole_16_topology_spread, True, NO),
        _case(filter_holes.hole_17_host_ports, True, NO),
        _case(filter_holes.hole_18_zone_of_a_volume, True, NO),
        _case(filter_holes.hole_18_node_affinity_of_a_volume, True, NO),
        _case(filter_holes.hole_18_volume_for_one_pod_alone, True, NO),
        _case(filter_holes.hole_18_volume_limit_of_a_node, True, NO),
        _case(filter_holes.hole_19_resource_claims, True, LIKELY),
        _case(filter_holes.hole_20_scheduling_gates, True, NO),
        _case(filter_holes.hole_20_scheduling_group, True, LIKELY),
        _case(filter_holes.hole_21_other_scheduler, True, LIKELY),
        _case(filter_holes.hole_22_tolerated_cordon, False, LANDS),
        _case(filter_holes.hole_23_toleration_for_some_seconds, True, LANDS_IF),
        _case(filter_holes.hole_24_toleration_that_compares, True, NO),
        _case(filter_holes.hole_25_request_of_zero_on_an_overcommitted_node, False, LANDS),
        _case(filter_holes.hole_26_pod_that_was_shrunk_in_place, True, NO),
    ],
)
def test_filter_that_upstream_lacks(build: Callable[[], Snapshot], upstream: bool, ours: LandingVerdict) -> None:
    snapshot = build()
    victim = next(pod for pod in snapshot.pods if pod.key == "default/victim")

    answers = upstream_fits(snapshot, victim), our_landing(snapshot, victim).verdict

    assert answers == (upstream, ours)


def test_hole_1_several_pods_are_justified_by_the_same_free_slot() -> None:
    snapshot = cluster_of(FULL, node_object("b", pods="1"), pod_object("one"), pod_object("two"))
    prover = LandingProver(snapshot)

    upstream = [upstream_fits(snapshot, pod) for pod in snapshot.pods]
    ours = [prover.book(pod).verdict for pod in snapshot.pods]

    assert (upstream, ours) == ([True, True], [LANDS, NO])


def test_hole_2_replacements_of_earlier_evictions_are_not_counted() -> None:
    """Of this cycle, which is booked, and of the last one, which still waits for a node."""
    snapshot = cluster_of(
        FULL,
        node_object("b", cpu="3"),
        pod_object("first", cpu="1"),
        pod_object("second", cpu="1"),
        pod_object("from-the-last-cycle", node="", cpu="1"),
        pod_object("third", cpu="1"),
    )
    prover = LandingProver(snapshot)
    victims = [pod_named(snapshot, name) for name in ("first", "second", "third")]

    upstream = [upstream_fits(snapshot, victim) for victim in victims]
    ours = [prover.book(victim).verdict for victim in victims]

    assert (upstream, ours) == ([True, True, True], [LANDS, LANDS, LANDS_IF])


def test_hole_3_room_that_earlier_evictions_free_is_not_credited() -> None:
    snapshot = cluster_of(
        FULL,
        node_object("b", cpu="2"),
        node_object("c", cpu="4", labels={"pool": "large"}),
        pod_object("first", node="b", cpu="2", node_selector={"pool": "large"}, owners=["ReplicaSet/first"]),
        pod_object("victim", cpu="2", node_selector={"kubernetes.io/hostname": "b"}),
    )
    prover, victim = LandingProver(snapshot), pod_named(snapshot, "victim")
    prover.book(pod_named(snapshot, "first"))

    assert (upstream_fits(snapshot, victim), prover.consider(victim).verdict) == (False, LANDS)


@pytest.mark.parametrize(
    ("nominated", "why"),
    [
        pytest.param(
            "", "pending pod default/competitor has a higher priority and is scheduled onto b first", id="pending"
        ),
        pytest.param(
            "b", "the room on b is held for pending pod default/competitor (nominatedNodeName)", id="nominated"
        ),
    ],
)
def test_hole_4_pending_and_nominated_pods_are_ignored(nominated: str, why: str) -> None:
    competitor = pod_object("competitor", node="", cpu="3", priority=10, owners=["ReplicaSet/other"])
    competitor["status"]["nominatedNodeName"] = nominated
    snapshot = cluster_of(FULL, node_object("b"), competitor, pod_object("victim", cpu="3"))
    victim = pod_named(snapshot, "victim")

    landing = our_landing(snapshot, victim)

    assert (upstream_fits(snapshot, victim), landing.verdict) == (True, NO)
    assert landing.message.endswith(f"; {why}")


def test_hole_5_the_same_pod_is_evicted_and_counted_twice() -> None:
    snapshot = cluster_of(FULL, node_object("b"), pod_object("victim"))
    victim = snapshot.pods[0]
    prover = LandingProver(snapshot)

    upstream = [upstream_fits(snapshot, victim) for _ in range(2)]
    ours = [prover.book(victim).message for _ in range(2)]

    assert (upstream, ours) == ([True, True], ["", "it is already evicted"])


def test_hole_6_the_replacement_comes_back_to_the_same_node() -> None:
    snapshot = cluster_of(
        node_object("a", cpu="8"), node_object("b"), pod_object("victim", cpu="1"), pod_object("o", node="b", cpu="2")
    )
    victim = pod_named(snapshot, "victim")

    landing = our_landing(snapshot, victim)

    assert upstream_fits(snapshot, victim)
    assert (landing.verdict, landing.node, landing.returns_to_source) == (LANDS, "a", True)


def test_hole_7_the_node_that_fits_is_itself_overutilized() -> None:
    """Only the crowded node has the label that the pod asks for, so that is where it goes."""
    snapshot = cluster_of(
        FULL,
        node_object("crowded", labels={"disk": "ssd"}),
        node_object("idle"),
        pod_object("load", node="crowded", cpu="3500m"),
        pod_object("victim", cpu="500m", node_selector={"disk": "ssd"}),
    )
    victim = pod_named(snapshot, "victim")

    assert (upstream_fits(snapshot, victim), our_landing(snapshot, victim).node) == (True, "crowded")


UTILIZATION = {"thresholds": {"cpu": 50}, "targetThresholds": {"cpu": 60}}


def test_hole_8_free_room_in_pieces_is_taken_for_room() -> None:
    """The sum over the idle nodes has room for the pod, and no single one has; upstream asks only with nodeFit on."""
    objects = [
        node_object("hot", cpu="4", unschedulable=False),
        node_object("idle1", cpu="3"),
        node_object("idle2", cpu="3"),
        pod_object("big", node="hot", cpu="3", owners=["ReplicaSet/big"]),
        pod_object("l1", node="idle1", cpu="500m", owners=["ReplicaSet/l1"]),
        pod_object("l2", node="idle2", cpu="500m", owners=["ReplicaSet/l2"]),
    ]
    plugin = {"balance": {"enabled": ["LowNodeUtilization"]}}

    upstream = evicted(objects, plugin, "LowNodeUtilization", UTILIZATION)
    ours = evicted(objects, plugin, "LowNodeUtilization", UTILIZATION, verified=True)

    assert (upstream, ours) == (["big"], [])


def test_hole_9_the_running_pod_is_checked_and_not_its_template() -> None:
    snapshot = cluster_of(
        FULL,
        node_object("b"),
        pod_object("victim", cpu="1"),
        workload_object("ReplicaSet/web", template=pod_object("t", cpu="6")),
    )
    victim = snapshot.pods[0]

    assert (upstream_fits(snapshot, victim), our_landing(snapshot, victim).verdict) == (True, NO)


def test_hole_10_budgets_are_not_projected_forward() -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default", "generation": 1},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 1},
        "status": {"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1},
    }
    pods = [pod_object(name, labels={"app": "web"}) for name in ("one", "two")]
    snapshot = cluster_of(FULL, node_object("b"), budget, *pods)
    ledger = BudgetLedger(snapshot)

    upstream = [upstream_fits(snapshot, pod) for pod in snapshot.pods]
    ours = []
    for pod in snapshot.pods:
        ours.append(ledger.verdict(pod).is_accepted)
        ledger.charge(pod)

    assert (upstream, ours) == ([True, True], [True, False])


def test_hole_21_added_affinity_of_a_profile() -> None:
    term = {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["apps"]}]}
    added = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [{"name": "NodeAffinity", "args": {"addedAffinity": added}}]}],
    }
    snapshot = cluster_of(FULL, node_object("b"), pod_object("victim"))
    victim = snapshot.pods[0]

    landing = our_landing(snapshot, victim, configuration)

    assert (upstream_fits(snapshot, victim), landing.verdict) == (True, NO)


def test_hole_21_extender_with_a_filter() -> None:
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "extenders": [{"urlPrefix": "http://rack", "filterVerb": "filter"}],
    }
    snapshot = cluster_of(FULL, node_object("b"), pod_object("victim"))
    victim = snapshot.pods[0]

    landing = our_landing(snapshot, victim, configuration)

    assert (upstream_fits(snapshot, victim), landing.verdict) == (True, LIKELY)


def test_hole_24_compared_tolerations_count_where_the_feature_is_on() -> None:
    snapshot = filter_holes.hole_24_toleration_that_compares()
    version = KubeVersion().with_gates({"TaintTolerationComparisonOperators": True})

    landing = LandingProver(snapshot, version=version).consider(snapshot.pods[0])

    assert landing.verdict is LANDS


def test_hole_27_preemption_is_a_hint_and_no_landing() -> None:
    snapshot = cluster_of(
        FULL,
        node_object("b", cpu="2"),
        pod_object("low", node="b", cpu="2", priority=0, owners=["ReplicaSet/low"]),
        pod_object("victim", cpu="2", priority=1000),
    )
    prover, victim = LandingProver(snapshot), pod_named(snapshot, "victim")

    answers = upstream_fits(snapshot, victim), prover.consider(victim).verdict

    assert answers == (False, NO)
    assert (
        prover.preemption_hint(victim)
        == "it would be scheduled onto b if pod default/low (priority 0) is preempted there"
    )


@pytest.mark.parametrize(
    ("taints", "upstream", "ours"),
    [
        pytest.param([], True, LANDS, id="without a Ready condition"),
        pytest.param(["node.kubernetes.io/disk-pressure:NoSchedule"], False, NO, id="under pressure, with its taint"),
    ],
)
def test_hole_28_conditions_count_only_as_taints(taints: list[str], upstream: bool, ours: LandingVerdict) -> None:
    """The scheduler looks at no condition either; what it sees is the taints that conditions lead to."""
    silent = node_object("b", taints=taints)
    silent["status"]["conditions"] = []
    snapshot = cluster_of(FULL, silent, pod_object("victim"))
    victim = snapshot.pods[0]

    assert (upstream_fits(snapshot, victim), our_landing(snapshot, victim).verdict) == (upstream, ours)


def test_hole_29_soft_taints_and_preferences_decide_where_it_goes() -> None:
    """Another node would take it, but the scheduler prefers the one that it leaves."""
    snapshot = cluster_of(
        node_object("a"), node_object("b", taints=["spot:PreferNoSchedule"]), pod_object("victim", cpu="1")
    )
    victim = snapshot.pods[0]

    landing = our_landing(snapshot, victim)

    assert upstream_fits(snapshot, victim)
    assert (landing.node, landing.returns_to_source) == ("a", True)


def test_hole_30_the_scheduler_knows_no_pool_of_the_policy() -> None:
    """NodeFit may be confined to a pool, or rely on nodes outside of it; the replacement goes where it fits."""
    snapshot = cluster_of(FULL, node_object("outside"), pod_object("victim"))
    victim = snapshot.pods[0]

    confined, free = upstream_fits(snapshot, victim, nodes=["a"]), upstream_fits(snapshot, victim)
    landing = our_landing(snapshot, victim)

    assert (confined, free) == (False, True)
    assert (landing.verdict, landing.node) == (LANDS, "outside")


def test_hole_31_nothing_is_checked_by_default() -> None:
    objects = [
        FULL,
        node_object("b", cpu="1"),
        pod_object("victim", cpu="3", containers=[container_status(restarts=100)]),
    ]
    plugin = {"deschedule": {"enabled": ["RemovePodsHavingTooManyRestarts"]}}
    args = {"podRestartThreshold": 10}

    upstream = evicted(objects, plugin, "RemovePodsHavingTooManyRestarts", args)
    ours = evicted(objects, plugin, "RemovePodsHavingTooManyRestarts", args, verified=True)

    assert (upstream, ours) == (["victim"], [])


def evicted(
    objects: Sequence[Object],
    plugins: Mapping[str, object],
    name: str,
    args: Mapping[str, object],
    *,
    verified: bool = False,
) -> list[str]:
    """Pods that a DeschedulerPolicy of one plugin evicts, as upstream by default, or with landings `verified`."""
    config = [{"name": "DefaultEvictor", "args": {}}, {"name": name, "args": dict(args)}]
    enabled = {**plugins, "preevictionfilter": {"enabled": ["DefaultEvictor"]}}
    if verified:
        config.append({"name": "PlacementVerification"})
        enabled = {**plugins, "preevictionfilter": {"enabled": ["DefaultEvictor", "PlacementVerification"]}}
    policy = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": [{"name": "p", "pluginConfig": config, "plugins": enabled}],
    }
    return [eviction.name for eviction in evaluate(policy, objects, now=NOW).evictions]
