"""What ElasticQuota declares of how placed pods bear on each other, by brute force over small worlds."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import pytest

from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.framework.interactions import Interplay
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.builders import make_node
from tests.placement.plugins.elastic_quota.quotas import decode, koordinated, make_quota, quota_pod, with_quotas

_NAMES = ("a", "b", "in-t", None)


def _scheduler(random: Random) -> Scheduler:
    tree = {"is-root": "true", "tree-id": "t"}
    total = {"total-resource": '{"cpu": 3}', "namespaces": '["x"]'}
    quotas = [
        make_quota("a", most=_cpu(random, 1, 6), least=_cpu(random, 0, 3), weight=_cpu(random, 0, 2)),
        make_quota("b", most=_cpu(random, 1, 6), least=_cpu(random, 0, 3), weight=_cpu(random, 1, 2)),
        decode("root", tree, total, {"max": {"cpu": "5"}}),
        make_quota("in-t", most={"cpu": "4"}, parent="root", tree_id="t"),
    ]
    old = [quota_pod(f"old-{n}", random.choice(_NAMES), **_cpu(random, 1, 2), node="n") for n in range(3)]
    cluster = ShadowCluster(
        with_quotas(quotas, [make_node("n", cpu=f"{random.randint(4, 9)}")], old),
        version=KubeVersion().with_gates({"MultiQuotaTree": True}),
    )
    return Scheduler(cluster, koordinated().profiles[0], plugins=PLUGINS)


def _cpu(random: Random, least: int, most: int) -> dict[str, Any]:
    return {"cpu": str(random.randint(least, most))}


def _is_refused(scheduler: Scheduler, pod: Pod) -> bool:
    return bool(scheduler.evaluate(pod).refusals)


@pytest.mark.parametrize("seed", range(40))
def test_declarations_hold(seed: int) -> None:
    random = Random(seed)
    scheduler = _scheduler(random)
    interactions: Interplay = scheduler
    pods = [quota_pod(f"new-{name}", name, **_cpu(random, 1, 4), node="") for name in _NAMES]
    for placed, asked in product(pods, pods):
        before = _is_refused(scheduler, asked)
        with scheduler.cluster.what_if():
            scheduler.place(scheduler.evaluate(placed), 0)
            after = _is_refused(scheduler, asked)

        assert before == after or interactions.interact(placed, asked)
        assert before == after or not interactions.is_local(asked)
        assert not before or after or interactions.can_be_helped(asked)


def test_another_pod_of_the_same_parent_may_help() -> None:
    """A quota of weight 0 has its scaled min and no more; that grows with what its parent is asked for."""
    parent = make_quota("p", most={"cpu": "100"}, is_parent="true")
    zero = make_quota("zero", most={"cpu": "10"}, least={"cpu": "4"}, weight={"cpu": "0", "memory": "1"}, parent="p")
    other = make_quota("other", most={"cpu": "10"}, least={"cpu": "4"}, parent="p")
    cluster = ShadowCluster(with_quotas([parent, zero, other], [make_node("n", cpu="20")]))
    scheduler = Scheduler(cluster, koordinated().profiles[0], plugins=PLUGINS)
    pod = quota_pod("new", "zero", cpu="3", node="")

    before = _is_refused(scheduler, pod)
    scheduler.place(scheduler.evaluate(quota_pod("helper", "other", cpu="3", node="")), 0)

    assert before
    assert not _is_refused(scheduler, pod)
