"""RevokePodsOverElasticQuota: pods of quotas that use more than they may."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.model.koordinator.elastic_quota import ElasticQuota
from descheduler.model.pod import Pod
from descheduler.placement.plugins.elastic_quota.quota_usage import ELASTIC_QUOTA_KIND
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from descheduler.strategies.revoke_pods_over_elastic_quota.overuse import OverusedQuota
from descheduler.strategies.revoke_pods_over_elastic_quota.victims import fits, least_important_first, victims
from tests.builders import make_node, make_pod
from tests.placement.plugins.elastic_quota.quotas import make_quota, quota_pod
from tests.policy.builders import messages, with_args
from tests.strategies.runs import evicted, run_plugin

PLUGIN = "RevokePodsOverElasticQuota"
NODES = [make_node("a", cpu="10"), make_node("b", cpu="10")]
TEAM = make_quota("team", most={"cpu": "4"})


def run(pods: Sequence[Pod], quotas: Sequence[ElasticQuota] = (TEAM,), **more: Any) -> Decisions:
    return run_plugin(PLUGIN, NODES, pods, objects={ELASTIC_QUOTA_KIND: tuple(quotas)}, **more)


def gone(pods: Sequence[Pod], existing: Sequence[ElasticQuota] = (TEAM,), **args: Any) -> list[str]:
    return evicted(run(pods, existing, args=args))


def pods_of(team: str, *cpus: str, **facts: Any) -> list[Pod]:
    """Pods `p0`, `p1`, … of which each started after the ones before."""
    return [quota_pod(f"p{number}", team, cpu=cpu, started=9000 - number, **facts) for number, cpu in enumerate(cpus)]


def test_latest_pods_leave_until_the_quota_is_within_its_limit() -> None:
    decisions = run(pods_of("team", "2", "2", "2", "2"))

    assert evicted(decisions) == ["p3", "p2"]
    assert {move.reason for move in decisions.moves} == {
        "elastic quota team uses more than its runtime quota: 8 CPU (runtime: 4)"
    }


def test_each_resource_that_is_over_is_named_with_its_figures() -> None:
    team = make_quota("team", most={"cpu": "4", "memory": "1Gi"})

    decisions = run([quota_pod("p", "team", cpu="6", memory="2Gi", started=9000)], [team])

    assert [move.reason for move in decisions.moves] == [
        "elastic quota team uses more than its runtime quota: 6 CPU (runtime: 4), 2Gi memory (runtime: 1Gi)"
    ]


def test_lower_priority_leaves_first() -> None:
    low = quota_pod("low", "team", cpu="2", priority=1, started=90000)

    assert gone([low, *pods_of("team", "2", "2", priority=5)]) == ["low"]


def test_quota_within_its_limit_keeps_its_pods() -> None:
    assert gone(pods_of("team", "2", "2")) == []


def test_runtime_quota_is_what_counts_and_not_max() -> None:
    """20 cpus are shared by weight: once another quota asks for its part, this one has to give back."""
    quotas = [make_quota(name, most={"cpu": "20"}) for name in ("team", "other")]
    others = [quota_pod("waits", "other", cpu="10", node="", phase="Pending")]

    assert gone([*pods_of("team", "6", "6"), *others], quotas) == ["p1"]


def test_collected_pod_that_still_fits_is_put_back() -> None:
    """The latest pod is collected first and too small to help; once the large one leaves, it fits again."""
    assert gone(pods_of("team", "3", "3", "500m")) == ["p1"]


def test_pods_that_nobody_may_preempt_stay() -> None:
    assert gone(pods_of("team", "3", "3", is_fixed=True)) == []


def test_resource_that_the_collected_pod_does_not_request_drops_out_as_measured() -> None:
    """7.5: after the first subtraction only cpu is looked at, so that memory stays exceeded."""
    quota = make_quota("team", most={"cpu": "4", "memory": "1Gi"})
    pods = [
        quota_pod("heavy", "team", cpu="4", memory="2Gi", started=900),
        quota_pod("light", "team", cpu="1", started=60),
    ]

    assert gone(pods, [quota]) == ["light"]


def test_all_leave_where_the_limit_cannot_be_reached() -> None:
    quota = make_quota("team", most={"cpu": "1"})
    fixed = quota_pod("fixed", "team", cpu="2", is_fixed=True)

    assert gone([fixed, *pods_of("team", "1", "1")], [quota]) == ["p1", "p0"]


def test_terminating_pods_count_as_gone() -> None:
    leaving = quota_pod("leaving", "team", cpu="3", deleted=5)

    assert gone([leaving, *pods_of("team", "2", "2")]) == []


@pytest.mark.parametrize(
    ("delay", "expected"),
    [
        pytest.param("30s", ["p2"], id="over it for longer"),
        pytest.param("5m", [], id="over it by a pod that is younger than the delay"),
    ],
)
def test_quota_has_to_be_over_its_limit_for_some_time(delay: str, expected: list[str]) -> None:
    young = quota_pod("p2", "team", cpu="2", age=60, started=60)

    assert gone([*pods_of("team", "2", "2"), young], delayEvictTime=delay) == expected


def test_only_named_quotas_are_examined() -> None:
    quotas = [TEAM, make_quota("other", most={"cpu": "1"})]
    pods = [*pods_of("team", "3", "3"), quota_pod("q", "other", cpu="2")]

    assert gone(pods, quotas, quotas=["other"]) == ["q"]


def test_default_quota_has_no_limit() -> None:
    assert gone([make_pod("p", cpu="50")]) == []


def test_facts_count_quotas() -> None:
    facts = run(pods_of("team", "3", "3"), [TEAM, make_quota("other", most={"cpu": "1"})]).facts["p", PLUGIN]

    assert facts.counts == {"quotas": 2, "overusedQuotas": 1}
    assert (facts.pods_examined, facts.pods_selected) == (2, 1)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param("{delayEvictTime: soon}", "delayEvictTime: 'soon' is not a duration", id="no duration"),
        pytest.param("{delayEvictTime: -5m}", "delayEvictTime: -5m is below 0", id="below 0"),
        pytest.param("{featureGates: {Xyz: true}}", "featureGates: unknown gate 'Xyz'", id="no gate"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(args: str, expected: str) -> None:
    (message,) = messages(with_args(PLUGIN, args))

    assert expected in message


def test_nodes_that_are_not_processed_keep_their_pods() -> None:
    pods = [quota_pod("p", "team", cpu="3", node="a", started=60), quota_pod("q", "team", cpu="3", node="b")]

    assert evicted(run(pods, processed=[NODES[1]])) == []


def test_victims_of_equal_importance_are_told_by_name() -> None:
    one, two = (quota_pod(name, "team") for name in ("one", "two"))

    assert victims([(one, {"cpu": 1}), (two, {"cpu": 1})], {"cpu": 2}, {"cpu": 1}) == [one]


@pytest.mark.parametrize(
    ("disabled", "expected"),
    [
        pytest.param([], ["profiles[0].plugins"], id="it verifies landings, as by default"),
        pytest.param([{"name": "PlacementVerification"}], [], id="it does not"),
    ],
)
def test_profile_that_also_verifies_landings_is_warned_about(
    disabled: list[dict[str, str]], expected: list[str]
) -> None:
    plugins = {"deschedule": {"enabled": [{"name": PLUGIN}]}, "filter": {"disabled": disabled}}
    profile = {"name": "quotas", "plugins": plugins}
    document = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerConfiguration", "profiles": [profile]}

    warnings = load_policy(document, REGISTRY).warnings

    assert [warning.field for warning in warnings] == expected
    assert all("does not admit the replacement pod (ElasticQuota)" in warning.message for warning in warnings)


@pytest.mark.parametrize(
    ("used", "limit", "is_within"),
    [
        pytest.param({"cpu": 4}, {"cpu": 4}, True, id="at the limit"),
        pytest.param({"cpu": 5}, {"cpu": 4}, False, id="above the limit"),
        pytest.param({"cpu": 5}, {"memory": 4}, True, id="a resource without a limit"),
        pytest.param({}, {"cpu": 4}, True, id="nothing is used"),
        pytest.param({"cpu": 1, "memory": 9}, {"cpu": 4, "memory": 4}, False, id="one of two is above"),
    ],
)
def test_use_is_within_a_limit(used: dict[str, int], limit: dict[str, int], is_within: bool) -> None:
    assert fits(used, limit) is is_within
    assert (OverusedQuota("q", limit, used, ()).excess == "") is is_within


def test_as_few_pods_as_needed_are_revoked_and_none_at_the_limit() -> None:
    pods = pods_of("team", "1", "1", "1")
    charged = [(pod, {"cpu": 1}) for pod in pods]

    assert [[pod.name for pod in victims(charged, {"cpu": 3}, {"cpu": most})] for most in (3, 2, 1, 0)] == [
        [],
        ["p0"],
        ["p0", "p1"],
        ["p0", "p1", "p2"],
    ]


def test_larger_pod_that_is_enough_spares_the_smaller_ones_before_it() -> None:
    small, large = pods_of("team", "1", "1")

    assert victims([(small, {"cpu": 1}), (large, {"cpu": 3})], {"cpu": 9}, {"cpu": 6}) == [large]


def test_least_important_pods_come_first() -> None:
    pods = [
        quota_pod("high", "team", priority=5, started=60),
        quota_pod("old", "team", started=90),
        quota_pod("new", "team", started=60),
        quota_pod("a-new", "team", started=60),
        quota_pod("unstarted", "team", started=None),
    ]

    assert [pod.name for pod, _ in least_important_first((pod, {}) for pod in pods)] == [
        "unstarted",
        "a-new",
        "new",
        "old",
        "high",
    ]
