"""Required anti-affinity of pods against their own kind as rules of the planner."""

from __future__ import annotations

from descheduler.planner.problem.anti_affinity_rules import anti_affinity_rules
from tests.builders import make_node, make_pod, required_anti_affinity

NODES = [make_node(name, cpu="10", labels={"zone": zone}) for name, zone in (("a", "1"), ("b", "1"), ("c", "2"))]
APART = required_anti_affinity({"app": "web"}, key="zone")


def test_pods_of_one_kind_share_a_group_of_which_a_domain_has_one() -> None:
    pods = [
        make_pod("p", node="a", labels={"app": "web"}, affinity=APART),
        make_pod("q", node="c", labels={"app": "web"}, affinity=APART),
        make_pod("other", node="a"),
    ]

    (rule,) = anti_affinity_rules(pods, NODES, {})

    assert (rule.group.tolist(), rule.domain.tolist(), rule.limit.tolist()) == ([0, 0, -1], [0, 0, 1], [1])


def test_pods_of_another_namespace_are_another_kind() -> None:
    pods = [
        make_pod("p", namespace=namespace, node="a", labels={"app": "web"}, affinity=APART)
        for namespace in ("shop", "test")
    ]

    (rule,) = anti_affinity_rules(pods, NODES, {})

    assert (rule.group.tolist(), rule.limit.tolist()) == ([0, 1], [1, 1])


def test_anti_affinity_against_other_pods_is_no_rule() -> None:
    assert anti_affinity_rules([make_pod("p", node="a", labels={"app": "db"}, affinity=APART)], NODES, {}) == []


def test_pods_of_one_selector_are_one_kind_whatever_owns_them() -> None:
    pods = [
        make_pod(owner, node="a", labels={"app": "web"}, affinity=APART, owners=[f"ReplicaSet/{owner}"])
        for owner in ("web-1", "web-2")
    ]

    (rule,) = anti_affinity_rules(pods, NODES, {})

    assert (rule.group.tolist(), rule.limit.tolist()) == ([0, 0], [1])
