"""Others change the cluster between the plan and the eviction: nothing is evicted in vain, nothing is left pending."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from descheduler.cycle.options import RunResult
from descheduler.plan.outcome import OutcomeCode
from tests.living.builders import budget, deployment, living_cluster, node, pod, priority_class
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay
from tests.living.observing.observer import Observer
from tests.migration.controller.whole_runs import WAYS, live_run, policy_of

Object = dict[str, Any]
Deed = Callable[[LivingCluster], object]

WHOLE_NODE = "3500m"
TAINT = {"key": "rival", "value": "", "effect": "NoSchedule"}


def fill(cluster: LivingCluster, *names: str) -> None:
    """A rival takes the room of these nodes."""
    for name in names:
        cluster.add(pod(f"rival-{name}", cpu=WHOLE_NODE, on=name))


def fill_by_scheduling(cluster: LivingCluster, *names: str) -> None:
    """Pods come that only fit on these nodes, of the same priority; the scheduler sees to them before the rest."""
    for name in names:
        cluster.add(pod(f"rival-{name}", cpu=WHOLE_NODE, nodeSelector={"kubernetes.io/hostname": name}))
    cluster.clock.sleep(2)


def edit_node(name: str, change: Callable[[Object], object], cluster: LivingCluster) -> None:
    with cluster.store.acting("rival"):
        cluster.store.edit("nodes", name, "", change)


def cordon(cluster: LivingCluster, *names: str) -> None:
    for name in names:
        edit_node(name, lambda found: found["spec"].update(unschedulable=True), cluster)


def taint(cluster: LivingCluster, *names: str) -> None:
    for name in names:
        edit_node(name, lambda found: found["spec"].setdefault("taints", []).append(TAINT), cluster)


def heal_source(cluster: LivingCluster) -> None:
    edit_node("n1", lambda found: found["spec"].update(taints=[]), cluster)


def send(method: str, path: str, cluster: LivingCluster) -> None:
    cluster.client(agent="rival").send(method, path)


def delete_node(cluster: LivingCluster, *names: str) -> None:
    for name in names:
        send("DELETE", f"/api/v1/nodes/{name}", cluster)


def fail_node(cluster: LivingCluster, *names: str) -> None:
    for name in names:
        cluster.set_ready(name, is_ready=False)


def scale(replicas: int, cluster: LivingCluster) -> None:
    with cluster.store.acting("rival"):
        cluster.store.edit("deployments.apps", "web", "shop", lambda found: found["spec"].update(replicas=replicas))
    cluster.clock.sleep(2)


def delete_pod(cluster: LivingCluster) -> None:
    for found in cluster.pods("web", node="n1"):
        send("DELETE", f"/api/v1/namespaces/shop/pods/{found['metadata']['name']}", cluster)


def relabel_pod(cluster: LivingCluster) -> None:
    for found in cluster.pods("web", node="n1"):
        with cluster.store.acting("rival"):
            cluster.store.edit("pods", found["metadata"]["name"], "shop", _quarantine)


def _quarantine(found: Object) -> None:
    found["metadata"]["labels"]["under"] = "investigation"


def protect(cluster: LivingCluster) -> None:
    cluster.add(budget("web", minAvailable=2))
    cluster.clock.sleep(1)


def run_another(cluster: LivingCluster) -> None:
    """Another descheduler evicts the pod first."""
    for found in cluster.pods("web", node="n1"):
        send("POST", f"/api/v1/namespaces/shop/pods/{found['metadata']['name']}/eviction", cluster)


@dataclass(frozen=True)
class Rivalry:
    """What a rival does right before a call of the run, and how many pods may leave all the same (None: any number)."""

    way: str
    deed: Deed
    method: str = "POST"
    ending: str = "/podmigrationjobs"
    nth: int = 1
    evicted: int | None = 0
    code: OutcomeCode | None = OutcomeCode.CHANGED


BOTH = ("n2", "n3")
HOLD = "/reservations"
PLACE = "/pods"
ONCE_HELD = ("GET", "/nodes", 3)
"""With that the plan is compared with the cluster, right before the eviction; the run and its guards read before."""
ROOM_REFUSED = OutcomeCode.NO_ROOM
RIVALRIES: Mapping[str, Rivalry] = {
    "room is taken before the eviction": Rivalry("directly", lambda c: fill(c, *BOTH)),
    "room on one of two nodes is taken": Rivalry("directly", lambda c: fill(c, "n2"), evicted=1, code=OutcomeCode.DONE),
    "rivals are scheduled first": Rivalry("directly", lambda c: fill_by_scheduling(c, *BOTH)),
    "targets are cordoned": Rivalry("directly", lambda c: cordon(c, *BOTH)),
    "targets are tainted": Rivalry("directly", lambda c: taint(c, *BOTH)),
    "targets are deleted": Rivalry("directly", lambda c: delete_node(c, *BOTH)),
    "targets fail": Rivalry("directly", lambda c: fail_node(c, *BOTH)),
    "the source has recovered": Rivalry("directly", heal_source),
    "the pod has other labels": Rivalry("directly", relabel_pod),
    "another deletes the pod": Rivalry("directly", delete_pod, evicted=0, code=None),
    "another descheduler evicts the pod": Rivalry("directly", run_another, evicted=None, code=None),
    "the workload is scaled down": Rivalry("directly", partial(scale, 0), code=None),
    "the workload is scaled up": Rivalry("directly", partial(scale, 3), evicted=1, code=OutcomeCode.DONE),
    "a budget comes": Rivalry("directly", protect, code=OutcomeCode.BUDGET),
    "room is taken before it is held": Rivalry(
        "reservations", lambda c: fill(c, *BOTH), ending=HOLD, code=ROOM_REFUSED
    ),
    "rivals of another scheduler come when room is held": Rivalry(
        "reservations", lambda c: fill_by_scheduling(c, *BOTH), *ONCE_HELD
    ),
    "targets are cordoned when room is held": Rivalry("reservations", lambda c: cordon(c, *BOTH), *ONCE_HELD),
    "room is taken before the placeholder": Rivalry(
        "placeholders", lambda c: fill(c, *BOTH), ending=PLACE, code=ROOM_REFUSED
    ),
    "targets are tainted under a placeholder": Rivalry("placeholders", lambda c: taint(c, *BOTH), *ONCE_HELD),
    "the source has recovered when room is held": Rivalry("reservations", heal_source, *ONCE_HELD),
}


@pytest.mark.parametrize("name", RIVALRIES)
def test_a_rival_has_nothing_evicted_in_vain(name: str) -> None:
    rivalry = RIVALRIES[name]
    way = WAYS[rivalry.way]
    web = deployment("web", 1, on=["n1"], scheduler=way.scheduler, grace_seconds=1, cpu="1")
    nodes = [node("n1", taints=["gone=soon:NoSchedule"]), node("n2"), node("n3")]
    others = [priority_class("descheduler-placeholder", -1_000_000_000)]
    cluster = living_cluster(nodes, [web], others, has_koordinator=way.has_koordinator)
    observer = Observer(cluster)
    passage = FaultyWay(cluster.api)
    passage.before(rivalry.method, rivalry.ending, partial(rivalry.deed, cluster), nth=rivalry.nth)

    result = live_run(cluster, policy_of(way), passage)

    observer.assert_kept()
    if rivalry.evicted is not None:
        assert len(observer.departures) == rivalry.evicted
    if rivalry.code is not None:
        assert [outcome.code for outcome in result.outcomes] == [rivalry.code], told(result)
    assert all(found["spec"].get("nodeName") for found in cluster.pods("web"))


def told(result: RunResult) -> list[str]:
    return [f"{outcome.code.value}: {outcome.message}" for outcome in result.outcomes]


def test_there_are_as_many_as_promised() -> None:
    assert len(RIVALRIES) == 20
