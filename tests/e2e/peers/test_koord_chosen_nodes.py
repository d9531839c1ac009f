"""koord-scheduler places a replacement on the node that an eviction names, or nowhere, whichever node it prefers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.room_provider import RoomProvider
from descheduler.kube.client import KubeClient
from descheduler.kube.evict import EvictionClient
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.dispatch.pace import Paces
from descheduler.migration.dispatch.surroundings import OpenCalls, Surroundings
from descheduler.migration.roads.execution import JobExecution
from descheduler.migration.room.table import ClusterOffer, JobProfile, choose
from descheduler.migration.settings import DispatchSettings, JobStorage
from descheduler.model.pod import Owner
from descheduler.plan.outcome import Outcome, OutcomeCode
from descheduler.plan.planned import PlannedEviction
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object
from tests.e2e.objects import deployment, node
from tests.e2e.peers.koordinator import SCHEDULER, install_koordinator, start_scheduler
from tests.e2e.witness import Witness
from tests.migration.stand_ins import AtOnce

OFFER = ClusterOffer(has_jobs=True, providers=frozenset({RoomProvider.KOORDINATOR}))


def test_replacements_are_placed_on_the_nodes_that_evictions_name(peer_cluster: Cluster) -> None:
    start(peer_cluster, "left", "free", "pinned")
    peer_cluster.add_nodes(node("preferred", cpu="32"), node("chosen", cpu="4"))

    outcomes = evict(peer_cluster, {"free": "", "pinned": "chosen"})

    assert codes(outcomes) == [OutcomeCode.DONE] * 2, outcomes
    assert nodes_of(peer_cluster, "free", "pinned") == {"free": "preferred", "pinned": "chosen"}


def test_pod_stays_where_the_chosen_node_has_no_room(peer_cluster: Cluster) -> None:
    start(peer_cluster, "left", "pinned")
    peer_cluster.add_nodes(node("roomy", cpu="32"), node("chosen", cpu="100m"))
    before = [pod["metadata"]["uid"] for pod in peer_cluster.pods("pinned")]

    outcomes = evict(peer_cluster, {"pinned": "chosen"}, ttl=timedelta(seconds=20))

    assert codes(outcomes) == [OutcomeCode.NO_ROOM], outcomes
    assert [pod["metadata"]["uid"] for pod in peer_cluster.pods("pinned")] == before
    assert peer_cluster.api.items("/apis/scheduling.koordinator.sh/v1alpha1/reservations") == []


def start(cluster: Cluster, node_name: str, *apps: str) -> None:
    """Koordinator's kinds and scheduler, and a node on which a pod of each of `apps` runs."""
    install_koordinator(cluster.plane)
    start_scheduler(cluster.plane)
    cluster.add_nodes(node(node_name))
    for app in apps:
        cluster.run(deployment(app, cluster.namespace, cpu="500m", replicas=1, schedulerName=SCHEDULER))


def evict(
    cluster: Cluster, held_on: Mapping[str, str], *, ttl: timedelta = timedelta(minutes=2)
) -> tuple[Outcome, ...]:
    """The outcomes of evictions of the pods of these workloads, whose room is to be held there."""
    evictions = [planned(pod, where) for app, where in held_on.items() for pod in cluster.pods(app)]
    return execution(Witness(cluster.kubeconfig).client(), ttl).execute(evictions)


def planned(pod: Object, held_on: str) -> PlannedEviction:
    """The eviction of `pod`."""
    meta = pod["metadata"]
    (owner,) = meta["ownerReferences"]
    return PlannedEviction(
        meta["namespace"],
        meta["name"],
        meta["uid"],
        pod["spec"]["nodeName"],
        profile="p",
        plugin="Plugin",
        held_on=held_on,
        controller=Owner(owner["kind"], owner["name"], owner["uid"], controller=True),
        labels=meta["labels"],
    )


def execution(client: KubeClient, ttl: timedelta) -> JobExecution:
    """The jobs of a policy with one profile, each of which takes `ttl` at most."""
    args = MigrationControllerArgs(default_job_ttl=ttl)
    settings = DispatchSettings(qps=100.0, burst=100)
    around = Surroundings(
        calls=AtOnce(),
        paces=Paces(settings, now=time.monotonic),
        open_calls=OpenCalls(settings.effect_seconds, now=time.monotonic),
        halted=lambda: None,
        why_not_call=lambda: "",
        clock=time.monotonic,
        now=lambda: datetime.now(UTC),
        sleep=time.sleep,
    )
    profile = JobProfile(args, choose("p", args, OFFER))
    storage = JobStorage("descheduler", "kube-system", in_objects=True)
    return JobExecution(ObjectCalls(client), {"p": profile}, storage, EvictionClient(client), settings, around)


def codes(outcomes: tuple[Outcome, ...]) -> list[OutcomeCode]:
    """How each ended."""
    return [outcome.code for outcome in outcomes]


def nodes_of(cluster: Cluster, *apps: str) -> dict[str, str]:
    """The node of the only pod of each workload."""
    return {app: cluster.wait_ready(app, 1)[0]["spec"]["nodeName"] for app in apps}
