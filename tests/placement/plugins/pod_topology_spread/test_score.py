"""Soft topology spread constraints and the defaults: raw and final scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.groups.workloads import Workload
from descheduler.model.node import Node
from descheduler.model.objects import Service
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import TopologySpreadConstraint
from descheduler.model.selection.labels import selector_from_object
from descheduler.placement.plugins.pod_topology_spread.constraints import PodTopologySpreadArgs
from descheduler.placement.plugins.pod_topology_spread.score import PodTopologySpreadScore, rounded
from tests.builders import make_node, make_pod, owner
from tests.placement.clusters import HOSTNAME, ZONE, make_cluster, make_profile, scores

WEB = {"app": "web"}


def _constraint(key: str = ZONE, **facts: Any) -> dict[str, Any]:
    selector = {"matchLabels": WEB}
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": selector,
        **facts,
    }


def _webs(**counts: int) -> list[Pod]:
    return [
        make_pod(f"{node}-{number}", node=node, labels=WEB, owners=())
        for node, count in counts.items()
        for number in range(count)
    ]


def _candidate(*constraints: dict[str, Any], **facts: Any) -> Pod:
    return make_pod("new", **{"node": "", "labels": WEB, "owners": (), "spread": constraints, **facts})


def _zone(name: str, **facts: Any) -> Node:
    return make_node(name, labels={ZONE: name}, **facts)


def test_domain_with_fewer_pods_scores_higher() -> None:
    cluster = make_cluster([_zone("a"), _zone("b")], _webs(a=3, b=1))

    answer = scores(PodTopologySpreadScore, cluster, _candidate(_constraint(maxSkew=5)))

    assert answer == ([8, 5], [62, 100])


def test_equal_domains_without_pods_score_full() -> None:
    cluster = make_cluster([_zone("a"), _zone("b")])

    answer = scores(PodTopologySpreadScore, cluster, _candidate(_constraint()))

    assert answer == ([0, 0], [100, 100])


def test_only_domains_of_feasible_nodes_weigh() -> None:
    cluster = make_cluster([_zone("a"), _zone("b"), _zone("c")], _webs(a=3, b=1, c=9))

    answer = scores(PodTopologySpreadScore, cluster, _candidate(_constraint(maxSkew=5)), among=["a", "b"])

    assert answer == ([8, 5], [62, 100])


def test_pods_on_infeasible_nodes_of_a_zone_count() -> None:
    full = make_node("full", labels={ZONE: "a"})
    cluster = make_cluster([_zone("a"), _zone("b"), full], _webs(full=3, b=1))

    answer = scores(PodTopologySpreadScore, cluster, _candidate(_constraint(maxSkew=5)), among=["a", "b"])

    assert answer == ([8, 5], [62, 100])


def test_nodes_that_the_pod_may_not_use_do_not_count() -> None:
    foreign = make_node("foreign", labels={ZONE: "a", "pool": "other"})
    own = [make_node(name, labels={ZONE: name, "pool": "own"}) for name in ("a", "b")]
    cluster = make_cluster([*own, foreign], _webs(foreign=7, a=3, b=1))
    pod = _candidate(_constraint(maxSkew=5), node_selector={"pool": "own"})

    answer = scores(PodTopologySpreadScore, cluster, pod, among=["a", "b"])

    assert answer == ([8, 5], [62, 100])


def test_hostname_counts_the_pods_of_the_node_itself() -> None:
    cluster = make_cluster([make_node("a"), make_node("b")], _webs(a=3, b=1))

    answer = scores(PodTopologySpreadScore, cluster, _candidate(_constraint(HOSTNAME, maxSkew=5)))

    assert answer == ([8, 5], [62, 100])


def test_pods_of_each_hostname_constraint_count_on_their_nodes() -> None:
    databases = [make_pod(f"db-{number}", node="b", labels={"app": "db"}, owners=()) for number in range(3)]
    cluster = make_cluster([make_node("a"), make_node("b"), make_node("c")], [*_webs(a=3), *databases])
    beside_databases = _constraint(HOSTNAME, labelSelector={"matchLabels": {"app": "db"}})

    answer = scores(PodTopologySpreadScore, cluster, _candidate(_constraint(HOSTNAME), beside_databases))

    # 3 ln 5 of the one constraint on a, of the other one on b.
    assert answer == ([5, 5, 0], [0, 0, 100])


def test_node_without_a_key_of_the_pods_own_constraints_scores_nothing() -> None:
    cluster = make_cluster([_zone("a"), _zone("b"), make_node("bare")], _webs(a=3, b=1))

    answer = scores(PodTopologySpreadScore, cluster, _candidate(_constraint(maxSkew=5)))

    assert answer == ([8, 5, 0], [62, 100, 0])


def test_nodes_that_all_lack_the_key_score_nothing() -> None:
    cluster = make_cluster([make_node("a"), make_node("b")])

    answer = scores(PodTopologySpreadScore, cluster, _candidate(_constraint()))

    assert answer == ([0, 0], [0, 0])


def test_pod_with_hard_constraints_alone_is_not_scored() -> None:
    cluster = make_cluster([_zone("a")], services=(Service("default", "web", WEB),))

    answer = scores(PodTopologySpreadScore, cluster, _candidate(_constraint(whenUnsatisfiable="DoNotSchedule")))

    assert answer is None


def test_pod_that_nothing_selects_has_no_default_spread() -> None:
    cluster = make_cluster([_zone("a")], services=(Service("default", "db", {"app": "db"}), Service("default", "all")))

    answer = scores(PodTopologySpreadScore, cluster, _candidate())

    assert answer is None


@pytest.mark.parametrize(
    ("kind", "group"),
    [
        pytest.param("ReplicaSet", "apps/v1", id="replica set"),
        pytest.param("StatefulSet", "apps/v1", id="stateful set"),
        pytest.param("ReplicationController", "v1", id="replication controller"),
    ],
)
def test_controlling_owner_gives_the_default_selector_even_where_it_misses_the_pod(kind: str, group: str) -> None:
    workload = _workload(kind, WEB)
    cluster = make_cluster([_zone("a"), _zone("b")], _webs(a=3), workloads={workload.uid: workload})
    pod = _candidate(labels={"app": "stray"}, owners=[owner(f"{kind}/web", group=group)])

    answer = scores(PodTopologySpreadScore, cluster, pod)

    # hostname: 3 ln 4 + 2, zone: 3 ln 4 + 4; without pods 2 + 4.
    assert answer == ([14, 6], [42, 100])


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"owners": [owner("Job/web", group="batch/v1")]}, id="a job gives no selector"),
        pytest.param(
            {"owners": [owner("ReplicaSet/web", group="example.com/v1")]}, id="nor does a foreign replica set"
        ),
        pytest.param({"owners": [owner("ReplicaSet/gone")]}, id="nor does one that is not there"),
        pytest.param(
            {"owners": [owner("ReplicaSet/web", controller=False)]}, id="nor does an owner that is no controller"
        ),
    ],
)
def test_other_owners_give_no_default_selector(facts: Mapping[str, Any]) -> None:
    workload = _workload("ReplicaSet", WEB)
    cluster = make_cluster([_zone("a")], workloads={workload.uid: workload})

    answer = scores(PodTopologySpreadScore, cluster, _candidate(**facts))

    assert answer is None


def test_services_and_replica_set_select_together() -> None:
    workload = _workload("ReplicaSet", {"hash": "1"})
    older = [make_pod(f"old-{number}", node="a", labels={**WEB, "hash": "0"}) for number in range(5)]
    newer = make_pod("newer", node="b", labels={**WEB, "hash": "1"})
    cluster = make_cluster(
        [_zone("a"), _zone("b")],
        [*older, newer],
        services=(Service("default", "web", WEB),),
        workloads={workload.uid: workload},
    )
    pod = _candidate(labels={**WEB, "hash": "1"}, owners=["ReplicaSet/web"])

    answer = scores(PodTopologySpreadScore, cluster, pod)

    # On b one pod: ln 4 + 2 and ln 4 + 4.
    assert answer == ([6, 9], [100, 66])


@pytest.mark.parametrize(
    ("kind", "group", "expected"),
    [
        # As where the owner alone selects: hostname 3 ln 4 + 2, zone 3 ln 4 + 4; without pods 2 + 4.
        pytest.param("ReplicationController", "v1", ([14, 6], [42, 100]), id="a replication controller overrules"),
        pytest.param("ReplicaSet", "apps/v1", ([6, 6], [100, 100]), id="no pod is of both"),
    ],
)
def test_label_that_services_and_owner_want_with_other_values(
    kind: str, group: str, expected: tuple[list[int], list[int]]
) -> None:
    workload, services = _workload(kind, WEB), (Service("default", "stray", {"app": "stray"}),)
    nodes, workloads = [_zone("a"), _zone("b")], {workload.uid: workload}
    cluster = make_cluster(nodes, _webs(a=3), services=services, workloads=workloads)
    pod = _candidate(labels={"app": "stray"}, owners=[owner(f"{kind}/web", group=group)])

    assert scores(PodTopologySpreadScore, cluster, pod) == expected


def test_nodes_without_a_zone_are_one_more_zone_to_the_system_defaults() -> None:
    nodes = [_zone("a"), make_node("bare-1"), make_node("bare-2")]
    cluster = make_cluster(nodes, _webs(a=4), services=(Service("default", "web", WEB),))

    answer = scores(PodTopologySpreadScore, cluster, _candidate())

    # a: hostname 4 ln 5 + 2, zone 4 ln 4 + 4 (zone a and the nodes without one); the others: hostname 2 alone.
    assert answer == ([18, 2, 2], [11, 100, 100])


def test_nodes_without_a_zone_share_the_zone_of_the_empty_name_under_the_system_defaults() -> None:
    nodes = [make_node("a", labels={ZONE: ""}), make_node("bare")]
    cluster = make_cluster(nodes, _webs(bare=4), services=(Service("default", "web", WEB),))

    answer = scores(PodTopologySpreadScore, cluster, _candidate())

    # a: hostname 2, zone 4 ln 3 + 4; bare: hostname 4 ln 4 + 2 alone.
    assert answer == ([10, 8], [80, 100])


def test_profiles_own_defaults_leave_out_nodes_without_a_key() -> None:
    cluster = make_cluster(
        [_zone("a"), _zone("b"), make_node("bare")], _webs(a=3, b=1), services=(Service("default", "web", WEB),)
    )
    default = TopologySpreadConstraint(5, ZONE, "ScheduleAnyway")
    profile = make_profile(PodTopologySpreadArgs((default,), is_system_defaulted=False))

    answer = scores(PodTopologySpreadScore, cluster, _candidate(), profile=profile)

    assert answer == ([8, 5, 0], [62, 100, 0])


def _workload(kind: str, labels: Mapping[str, str]) -> Workload:
    return Workload(kind, "default", "web", f"uid-{kind}", 3, selector=selector_from_object({"matchLabels": labels}))


@given(st.floats(0, 2**51))
def test_costs_are_rounded_as_go_rounds(cost: float) -> None:
    costs = [math.floor(cost) + 0.5, math.nextafter(math.floor(cost) + 0.5, 0), cost]

    assert rounded(np.array(costs)).tolist() == [math.floor(each) + (each - math.floor(each) >= 0.5) for each in costs]
