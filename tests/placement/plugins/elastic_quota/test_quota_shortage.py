"""What a quota has against a pod in the words of koord-scheduler, and the arguments that decide about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import pytest

from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.placement.framework.interactions import GatheredPods, Meetings
from descheduler.placement.plugins.elastic_quota.elastic_quota import (
    BUILT_IN_MAX,
    ElasticQuotaArgs,
    ElasticQuotaPlugin,
)
from descheduler.placement.plugins.elastic_quota.quota_shortage import QuotaLimit, QuotaShortage
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.builders import NOW, make_node
from tests.placement.configuration.kube_scheduler.builders import args_with, problems, with_args
from tests.placement.plugins.elastic_quota.quotas import koordinated, make_quota, quota_pod, with_quotas


def shortage(
    kind: QuotaLimit, limit: Mapping[str, int], used: Mapping[str, int], path: Sequence[str] = ("team",)
) -> QuotaShortage:
    """Of a pod that asks for 2 CPUs and 1Gi."""
    requested = {"cpu": 2000, "memory": 2**30}
    return QuotaShortage(kind, path[0], tuple(path), limit, used, requested, ("cpu",))


@pytest.mark.parametrize(
    ("found", "words"),
    [
        pytest.param(
            shortage(QuotaLimit.RUNTIME, {"cpu": 4000}, {}),
            "Insufficient quotas, quotaName: team, runtime: cpu:4, used: <empty>",
            id="runtime",
        ),
        pytest.param(
            shortage(QuotaLimit.MIN, {"cpu": 4000}, {"cpu": 1500}),
            "Insufficient non-preemptible quotas, quotaName: team, min: cpu:4, nonPreemptibleUsed: cpu:1500m",
            id="min",
        ),
        pytest.param(
            shortage(QuotaLimit.PARENT, {"cpu": 4000}, {"cpu": 3000}, ("all", "team")),
            "Insufficient quotas, quotaNameTopo: [all team], runtime: cpu:4, used: cpu:3",
            id="parent",
        ),
    ],
)
def test_shortage_is_told_in_the_words_of_the_scheduler(found: QuotaShortage, words: str) -> None:
    assert found.reason == f"{words}, pod's request: cpu:2,memory:1Gi, exceedDimensions: [cpu]"
    assert (found.subject, found.eviction_reason) == (found.path[0], Reason.ELASTIC_QUOTA)


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        pytest.param("cpu", 999, "999m", id="less than a CPU"),
        pytest.param("cpu", 1000, "1", id="a CPU"),
        pytest.param("cpu", 1000_000, "1k", id="a thousand CPUs"),
        pytest.param("memory", 1023, "1023", id="bytes"),
        pytest.param("memory", 1024, "1Ki", id="a kibibyte"),
        pytest.param("memory", 3 * 2**60, "3Ei", id="the largest unit"),
        pytest.param("memory", 2**70, "1024Ei", id="more than that"),
        pytest.param("x/y", 1024, "1024", id="pieces are decimal"),
        pytest.param("x/y", 5000, "5k", id="thousands of pieces"),
        pytest.param("x/y", 0, "0", id="none"),
    ],
)
def test_amounts_are_told_as_quantities(resource: str, amount: int, text: str) -> None:
    found = QuotaShortage(QuotaLimit.MAX, "team", ("team",), {resource: amount}, {}, {}, (resource,))

    assert f"runtime: {resource}:{text}, used" in found.reason


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        pytest.param({"delayEvictTime": "0s", "revokePodInterval": "1s"}, "", id="times"),
        pytest.param({"delayEvictTime": "-1s"}, "delayEvictTime: -1s is below 0", id="a time below 0"),
        pytest.param({"revokePodInterval": "soon"}, "revokePodInterval", id="no time"),
        pytest.param({"defaultQuotaGroupMax": {"cpu": "0"}}, "", id="nothing"),
        pytest.param({"defaultQuotaGroupMax": {"cpu": "-1"}}, "defaultQuotaGroupMax.cpu: -1 is below 0", id="below 0"),
        pytest.param({"systemQuotaGroupMax": {"cpu": "much"}}, "systemQuotaGroupMax.cpu", id="no quantity"),
    ],
)
def test_arguments_are_checked(args: Mapping[str, object], problem: str) -> None:
    found = problems(with_args("ElasticQuota", json.dumps(args)))

    assert [problem in each for each in found] == ([True] if problem else [])


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param({}, ElasticQuotaArgs(), id="by default"),
        pytest.param({"enableCheckParentQuota": True}, ElasticQuotaArgs(checks_parents=True), id="parents"),
        pytest.param({"enableCheckParentQuota": False}, ElasticQuotaArgs(), id="no parents"),
        pytest.param({"enableRuntimeQuota": False}, ElasticQuotaArgs(uses_runtime=False), id="max"),
        pytest.param({"enableRuntimeQuota": True}, ElasticQuotaArgs(), id="runtime quota"),
        pytest.param({"enableMinQuotaScale": False}, ElasticQuotaArgs(scales_mins=False), id="mins as they are"),
        pytest.param({"disableDefaultQuotaPreemption": False}, ElasticQuotaArgs(spares_default=False), id="preempts"),
        pytest.param(
            {"defaultQuotaGroupMax": {"memory": "1", "cpu": "2"}},
            ElasticQuotaArgs(default_max=(("cpu", 2 * 10**9), ("memory", 10**9))),
            id="a max",
        ),
    ],
)
def test_arguments_are_read(args: Mapping[str, object], expected: ElasticQuotaArgs) -> None:
    assert args_with("ElasticQuota", json.dumps(args)).of(ElasticQuotaArgs) == expected
    assert expected.system_max == BUILT_IN_MAX


QUOTAS = [
    make_quota("a", most={"cpu": "4"}),
    make_quota("b", most={"cpu": "4"}),
    make_quota("fixed", most={"cpu": "4"}, least={"cpu": "1"}),
]
PODS = [
    quota_pod("p", "a", cpu="1", node=""),
    quota_pod("q", "b", cpu="1", node=""),
    quota_pod("r", None, cpu="1", node=""),
    quota_pod("s", None, cpu="1", node="", is_fixed=True),
    quota_pod("t", "fixed", cpu="1", node="", is_fixed=True),
]


def plugin_over(*pods: Pod, **args: Any) -> ElasticQuotaPlugin:
    """The plugin over three quotas and a node."""
    cluster = ShadowCluster(with_quotas(QUOTAS, [make_node("n", cpu="9")], pods))
    return ElasticQuotaPlugin(cluster, koordinated(**args).profiles[0])


def test_what_is_told_of_many_pods_is_what_is_told_of_two() -> None:
    rule: Any = plugin_over().interactions
    numbers = range(len(PODS))

    meetings = Meetings(len(PODS), rule.interacting(GatheredPods(PODS)))

    told = {(int(one), place) for place in numbers for one in meetings.on(place)}
    assert told == {(i, j) for i in numbers for j in numbers if rule.interact(PODS[i], PODS[j])}


def test_pods_that_can_be_refused_are_helped_and_not_local() -> None:
    rule: Any = plugin_over().interactions

    assert [rule.can_be_helped(pod) for pod in PODS] == [True, True, False, False, True]
    assert [rule.is_local(pod) for pod in PODS] == [False, False, True, True, False]


def test_default_quota_is_limited_by_its_max_without_runtime_quota() -> None:
    rule: Any = plugin_over(enableRuntimeQuota=False, defaultQuotaGroupMax={"cpu": "1"}).interactions

    assert [rule.can_be_helped(pod) for pod in PODS] == [True] * 5


@pytest.mark.parametrize(
    ("pod", "other", "spares", "may"),
    [
        pytest.param(PODS[0], quota_pod("x", "a"), True, True, id="of the same quota"),
        pytest.param(PODS[0], quota_pod("x", "b"), True, False, id="of another quota"),
        pytest.param(PODS[0], quota_pod("x", "a", is_fixed=True), True, False, id="one that nobody may preempt"),
        pytest.param(PODS[2], quota_pod("x", None), True, False, id="of the default quota, which is spared"),
        pytest.param(PODS[2], quota_pod("x", None), False, True, id="of the default quota"),
    ],
)
def test_pods_of_the_same_quota_may_be_preempted(pod: Pod, other: Pod, spares: bool, may: bool) -> None:
    assert plugin_over(disableDefaultQuotaPreemption=spares).may_preempt(pod, other) is may


def test_pods_without_a_quota_bear_on_nobody() -> None:
    version = KubeVersion().with_gates({"DisableDefaultQuota": True})
    cluster = ShadowCluster(with_quotas(QUOTAS, [make_node("n", cpu="9")]), version=version)
    rule: Any = ElasticQuotaPlugin(cluster, koordinated().profiles[0]).interactions
    owned, free = PODS[0], PODS[2]

    assert [rule.interact(*pair) for pair in ((owned, free), (free, owned), (free, free), (owned, owned))] == [
        False,
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("gates", "deleted", "taken_at", "is_charged"),
    [
        pytest.param([], 5, NOW, True, id="a pod that is being deleted"),
        pytest.param(["ElasticQuotaImmediateIgnoreTerminatingPod"], -60, NOW, False, id="at once by one gate"),
        pytest.param(["ElasticQuotaIgnoreTerminatingPod"], -60, NOW, True, id="not before its time is over by another"),
        pytest.param(["ElasticQuotaIgnoreTerminatingPod"], 0, NOW, True, id="not just when it is over"),
        pytest.param(["ElasticQuotaIgnoreTerminatingPod"], 1, NOW, False, id="once its time is over"),
        pytest.param(["ElasticQuotaIgnoreTerminatingPod"], 1, None, True, id="not where no time is told"),
        pytest.param(["ElasticQuotaIgnoreTerminatingPod"], None, NOW, True, id="not a pod that runs"),
    ],
)
@pytest.mark.parametrize("node", ["n", ""], ids=["placed", "waiting"])
def test_pod_is_charged_until_it_is_taken_to_be_gone(
    gates: Sequence[str], deleted: float | None, taken_at: datetime | None, is_charged: bool, node: str
) -> None:
    pod = quota_pod("old", "a", cpu="3", node=node, deleted=deleted, phase="Running" if node else "Pending")
    snapshot = with_quotas(QUOTAS, [make_node("n", cpu="9")], [pod], taken_at=taken_at)
    version = KubeVersion().with_gates(dict.fromkeys(gates, True))
    usage = ElasticQuotaPlugin(ShadowCluster(snapshot, version=version), koordinated().profiles[0]).admission.usage
    account = usage.account_of(pod)
    assert account is not None

    assert (account.num_placed, account.num_waiting) == ((int(is_charged), 0) if node else (0, int(is_charged)))
