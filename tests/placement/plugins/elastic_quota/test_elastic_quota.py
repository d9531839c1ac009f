"""ElasticQuota as a scheduling plugin: whom it refuses, and what bears on that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.koordinator.elastic_quota import DEFAULT_QUOTA, ElasticQuota
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.framework.interactions import BY_REQUESTS
from descheduler.placement.framework.obstacle import Code
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.plugins.elastic_quota.elastic_quota import ElasticQuotaPlugin as Plugin
from descheduler.placement.plugins.elastic_quota.quota_shortage import QuotaLimit, QuotaShortage
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.builders import make_node
from tests.placement.plugins.elastic_quota.quotas import decode, koordinated, make_quota, quota_pod, with_quotas

NODES = [make_node("a", cpu="10"), make_node("b", cpu="10")]
TEAM = make_quota("team", most={"cpu": "4"})


def scheduler_of(
    quotas: Sequence[ElasticQuota], pods: Sequence[Pod] = (), *, gates: Sequence[str] = (), **args: Any
) -> Scheduler:
    version = KubeVersion().with_gates(dict.fromkeys(gates, True))
    cluster = ShadowCluster(with_quotas(quotas, NODES, pods), version=version)
    return Scheduler(cluster, koordinated(**args).profiles[0], plugins=PLUGINS)


def shortage(scheduler: Scheduler, pod: Pod) -> QuotaShortage | None:
    """What the quota has against a new pod."""
    refusals = scheduler.evaluate(pod).refusals
    if not refusals:
        return None
    (refusal,) = refusals
    (fact,) = refusal.facts
    assert refusal.code is Code.UNSCHEDULABLE
    assert isinstance(fact, QuotaShortage)
    return fact


def new(quota: str | None = "team", **facts: Any) -> Pod:
    return quota_pod("new", quota, node="", **facts)


def test_pod_that_exceeds_its_quota_is_refused_in_the_words_of_the_scheduler() -> None:
    scheduler = scheduler_of([TEAM], [quota_pod("old", "team", cpu="3")])

    found = shortage(scheduler, new(cpu="2"))

    assert found == QuotaShortage(
        QuotaLimit.RUNTIME, "team", ("team",), {"cpu": 4000}, {"cpu": 3000}, {"cpu": 2000}, ("cpu",)
    )
    assert found.reason == (
        "Insufficient quotas, quotaName: team, runtime: cpu:4, used: cpu:3, pod's request: cpu:2, "
        "exceedDimensions: [cpu]"
    )
    assert found.short == "quota team: 2 CPU requested, 1 CPU over its max of 4"
    assert shortage(scheduler, new(cpu="1")) is None


@pytest.mark.parametrize(
    ("kind", "most", "words"),
    [
        pytest.param(QuotaLimit.RUNTIME, 20, "runtime quota of 8 (max: 20)", id="less than its max can be used now"),
        pytest.param(QuotaLimit.RUNTIME, 8, "max of 8", id="all of its max can be used now"),
        pytest.param(QuotaLimit.MAX, 8, "max of 8", id="runtime quota is off"),
        pytest.param(QuotaLimit.MIN, 20, "min of 8 (the limit of pods that cannot be preempted)", id="pods are fixed"),
    ],
)
def test_operators_read_how_much_is_over_which_limit(kind: QuotaLimit, most: int, words: str) -> None:
    limit, used, requested = {"cpu": 8000}, {"cpu": 9000}, {"cpu": 2500}

    found = QuotaShortage(kind, "team", ("team",), limit, used, requested, ("cpu",), {"cpu": most * 1000})

    assert found.short == f"quota team: 2500m CPU requested, 3500m CPU over its {words}"


def test_operators_read_each_resource_in_its_unit_and_whose_parent_is_over() -> None:
    sizes = {"memory": 4 << 30, "koordinator.sh/gpu-memory": 16 << 30}

    found = QuotaShortage(
        QuotaLimit.PARENT, "all", ("all", "team"), sizes, {}, {n: 2 * a for n, a in sizes.items()}, tuple(sizes), sizes
    )

    assert found.short == (
        "quota all (parent of team): 8Gi memory requested, 4Gi memory over its max of 4Gi; "
        "32Gi koordinator.sh/gpu-memory requested, 16Gi koordinator.sh/gpu-memory over its max of 16Gi"
    )


def test_quota_that_is_over_in_one_resource_takes_no_pod_that_asks_for_another() -> None:
    quota = make_quota("team", most={"cpu": "4", "memory": "1Gi"})
    scheduler = scheduler_of([quota], [quota_pod("old", "team", cpu="1", memory="2Gi")])

    found = shortage(scheduler, new(cpu="1"))

    assert found is not None
    assert found.dimensions == ("memory",)


def test_pod_that_nobody_may_preempt_stays_within_min() -> None:
    quota = make_quota("team", most={"cpu": "4"}, least={"cpu": "2"})
    scheduler = scheduler_of([quota], [quota_pod("old", "team", cpu="1", is_fixed=True)])

    found = shortage(scheduler, new(cpu="2", is_fixed=True))

    assert found is not None
    assert found.kind is QuotaLimit.MIN
    assert shortage(scheduler, new(cpu="2")) is None


@pytest.mark.parametrize("is_checked", [False, True])
def test_parents_are_checked_only_where_that_is_enabled(is_checked: bool) -> None:
    parent = make_quota("all", most={"cpu": "4"}, is_parent="true")
    own, other = (make_quota(name, most={"cpu": "3"}, parent="all") for name in ("team", "other"))
    pods = [quota_pod("old", "other", cpu="3")]
    scheduler = scheduler_of([parent, own, other], pods, enableCheckParentQuota=is_checked, enableRuntimeQuota=False)

    found = shortage(scheduler, new(cpu="2"))

    assert (found is not None) is is_checked
    if found is not None:
        assert found.kind is QuotaLimit.PARENT
        assert found.path == ("all", "team")


@pytest.mark.parametrize("is_runtime", [False, True])
def test_a_parent_has_nothing_of_a_resource_that_its_own_max_does_not_name(is_runtime: bool) -> None:
    parent = make_quota("all", most={"memory": "64Gi"}, is_parent="true")
    own = make_quota("team", most={"cpu": "19", "memory": "64Gi"}, parent="all")
    scheduler = scheduler_of([parent, own], enableCheckParentQuota=True, enableRuntimeQuota=is_runtime)

    found = shortage(scheduler, new(cpu="2", memory="1Gi"))

    assert found is not None
    assert (found.kind, found.path, found.dimensions) == (QuotaLimit.PARENT, ("all", "team"), ("cpu",))
    assert found.limit["cpu"] == 0


def test_max_is_the_limit_without_runtime_quota() -> None:
    scheduler = scheduler_of([TEAM], defaultQuotaGroupMax={"cpu": "1"}, enableRuntimeQuota=False)

    own, default = shortage(scheduler, new(cpu="5")), shortage(scheduler, new(None, cpu="2"))

    assert own is not None
    assert own.kind is QuotaLimit.MAX
    assert default is not None
    assert default.quota == DEFAULT_QUOTA


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(new("team"), "team", id="the label names it"),
        pytest.param(new(None, namespace="own"), "own", id="the namespace has one of its name"),
        pytest.param(new(None, namespace="listed"), "team", id="a quota lists the namespace"),
        pytest.param(new("nobody"), DEFAULT_QUOTA, id="a name that does not exist"),
        pytest.param(new(None), DEFAULT_QUOTA, id="nothing says"),
    ],
)
def test_quota_that_a_pod_has(pod: Pod, expected: str) -> None:
    spec = {"max": {"cpu": "4"}}
    quotas = [decode("team", {}, {"namespaces": '["listed"]'}, spec), decode("own", {}, {}, spec, namespace="own")]
    plugin = Plugin(scheduler_of(quotas).cluster, koordinated().profiles[0])

    place = plugin.admission.usage.forest.place_of(pod)

    assert place is not None
    assert place.quota.name == expected


def test_without_a_default_quota_only_the_label_counts() -> None:
    scheduler = scheduler_of([TEAM], gates=["DisableDefaultQuota"])
    plugin = Plugin(scheduler.cluster, scheduler.profile)

    assert plugin.admission.usage.account_of(new(None)) is None
    assert plugin.admission.usage.account_of(new("nobody")) is None
    assert plugin.admission.usage.account_of(new("team")) is not None


@pytest.mark.parametrize("text", ["no JSON", "{}", '{"a": 1}', "[1]"])
def test_namespaces_that_are_broken_are_none(text: str) -> None:
    assert decode("team", {}, {"namespaces": text}, {"max": {"cpu": "4"}}).namespaces == ()


def test_trees_share_what_their_root_says() -> None:
    root = decode("root", {"is-root": "true", "tree-id": "t"}, {"total-resource": '{"cpu": 3}'}, {"max": {"cpu": "9"}})
    leaf = make_quota("team", most={"cpu": "9"}, parent="root", tree_id="t")
    other = make_quota("other", most={"cpu": "20"})
    scheduler = scheduler_of([root, leaf, other], gates=["MultiQuotaTree"])

    in_tree, beside = shortage(scheduler, new(cpu="4")), shortage(scheduler, new("other", cpu="18"))

    assert in_tree is not None
    assert in_tree.limit == {"cpu": 3000}
    assert beside is not None
    assert beside.limit == {"cpu": 17000}


@pytest.mark.parametrize(
    ("gates", "fits"),
    [
        pytest.param((), False, id="it counts until it is gone"),
        pytest.param(("ElasticQuotaImmediateIgnoreTerminatingPod",), True, id="unless the gate says otherwise"),
    ],
)
def test_terminating_pod(gates: Sequence[str], fits: bool) -> None:
    old = quota_pod("old", "team", cpu="3")
    scheduler = scheduler_of([TEAM], [old], gates=gates)
    scheduler.cluster.terminate(old)

    assert (shortage(scheduler, new(cpu="2")) is None) is fits


def test_overhead_is_not_charged_where_the_gate_says_so() -> None:
    pod = quota_pod("new", "team", node="", cpu="4", spec={"overhead": {"cpu": "1"}})

    assert shortage(scheduler_of([TEAM]), pod) is not None
    assert shortage(scheduler_of([TEAM], gates=["ElasticQuotaIgnorePodOverhead"]), pod) is None


def test_replacement_of_a_pod_in_a_full_quota_lands_once_the_pod_is_gone() -> None:
    """The eviction frees what the replacement takes; while the victim terminates, the replacement waits."""
    old = quota_pod("old", "team", cpu="4", node="a")
    prover = LandingProver(with_quotas([TEAM], NODES, [old]), configuration=koordinated())

    landing = prover.consider(old)

    assert landing.verdict in (LandingVerdict.LANDS, LandingVerdict.LANDS_IF)
    assert landing.cold is LandingVerdict.NO


def test_pod_of_a_quota_that_uses_too_much_does_not_come_back() -> None:
    pods = [quota_pod(name, "team", cpu="3", node="a") for name in ("p", "q")]
    prover = LandingProver(with_quotas([TEAM], NODES, pods), configuration=koordinated())

    assert prover.consider(pods[0]).verdict is LandingVerdict.NO


def test_nothing_is_declared_and_counted_without_quotas() -> None:
    pod = quota_pod("old", None, cpu="1")
    scheduler = scheduler_of([], [pod])
    plugin = Plugin(scheduler.cluster, scheduler.profile)

    assert plugin.interactions is BY_REQUESTS
    assert plugin.admission.usage.fingerprint() == []


def test_pods_of_one_tree_interact_and_those_of_the_default_quota_are_never_refused() -> None:
    scheduler = scheduler_of([TEAM])
    own, default = new(), new(None)

    assert not scheduler.is_local(own)
    assert scheduler.is_local(default)
    assert scheduler.interact(own, default)
    assert not scheduler.interact(default, default)


@pytest.mark.parametrize(
    ("facts", "hint"),
    [
        pytest.param(
            {"quota": "team"},
            "it would be scheduled onto b if pod default/low (priority 1) is preempted there",
            id="of the same quota",
        ),
        pytest.param({"quota": "other"}, "", id="of another quota"),
        pytest.param({"quota": "team", "is_fixed": True}, "", id="that nobody may preempt"),
        pytest.param({"quota": "team", "priority": 9}, "", id="of a higher priority"),
    ],
)
def test_only_pods_of_the_same_quota_are_preempted_for_it(facts: dict[str, Any], hint: str) -> None:
    victim = quota_pod("victim", "team", cpu="3", node="a", priority=5, owners=["ReplicaSet/victim"])
    low = quota_pod("low", node="b", **{"cpu": "3", "priority": 1, **facts})
    quotas = [TEAM, make_quota("other", most={"cpu": "9"})]
    prover = LandingProver(
        with_quotas(quotas, NODES, [victim, low, quota_pod("big", "team", cpu="1", node="a", priority=7)]),
        configuration=koordinated(),
    )

    assert prover.preemption_hint(victim) == hint
