"""Moving pods by jobs takes what the roles for it allow, all of it and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from descheduler.eviction.migration_controller.room_provider import RoomProvider
from descheduler.kube.discovery import discover
from descheduler.migration.job.surge import Surge
from descheduler.migration.roads.users_jobs import runs_koord_descheduler
from descheduler.migration.room.table import find_offer
from descheduler.plan.outcome import OutcomeCode
from tests.cronjob.manifests import COMPONENTS, OVERLAYS, Manifest, documents
from tests.cronjob.rbac import (
    EVICT,
    JOBS,
    LIST_ALL,
    PLACEHOLDER_CLASS,
    PLACEHOLDERS,
    SURGES,
    Grant,
    grants_of,
    job_map_grants,
    requested,
)
from tests.integration.fake_api import Request
from tests.living.builders import deployment, living_cluster, priority_class
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay
from tests.migration.roads.playing import Play

LONG = timedelta(hours=1).total_seconds()


def test_jobs_with_reservations_take_exactly_what_the_role_of_jobs_allows() -> None:
    cluster = shop("koord-scheduler")
    play = Play(cluster)
    runs_koord_descheduler(play.objects, cluster.clock.now())

    move_and_clean_up(play)
    find_no_room(cluster)

    assert asked(cluster) - LIST_ALL - EVICT == JOBS


def test_placeholders_and_jobs_in_config_maps_take_exactly_what_the_overlay_adds() -> None:
    cluster = shop("default-scheduler")

    play = Play(cluster, provider="placeholder", keeps_objects=False)
    find_offer(play.objects, discover(play.client), {RoomProvider.PLACEHOLDER})

    move_and_clean_up(play)

    overlay = documents((OVERLAYS / "placeholder" / "rbac.yaml").read_text())
    granted = grants_of(each for each in overlay if each["kind"].endswith("Role"))
    assert granted == PLACEHOLDERS | job_map_grants()
    assert asked(cluster) - LIST_ALL - EVICT == granted


def test_surges_take_exactly_what_their_component_adds() -> None:
    cluster = shop("default-scheduler", replicas=1)

    move_and_clean_up(Play(cluster, provider="placeholder", keeps_objects=False, surge=Surge(is_required=True)))
    of_a_replica_set_of_its_own = grants_of(granted_for_surges()) & {Grant("patch", "apps", "replicasets/scale")}

    assert grants_of(granted_for_surges()) == SURGES
    assert asked(cluster) - LIST_ALL - EVICT - PLACEHOLDERS - job_map_grants() == SURGES - of_a_replica_set_of_its_own


def granted_for_surges() -> list[Manifest]:
    """The roles of the component."""
    component = documents((COMPONENTS / "surge" / "rbac.yaml").read_text())
    return [each for each in component if each["kind"].endswith("Role")]


def shop(scheduler: str, replicas: int = 2) -> LivingCluster:
    """Pods of one workload, all of them on one node of three."""
    lowest = priority_class(PLACEHOLDER_CLASS, -1_000_000_000)
    return living_cluster(3, [deployment("web", replicas, on=["n1"] * replicas, scheduler=scheduler)], [lowest])


def move_and_clean_up(play: Play) -> None:
    """A pod moves although somebody else has changed its job meanwhile, and long after that the job is removed."""
    cluster = play.cluster
    way = FaultyWay(cluster.api)
    way.before("PATCH", "", lambda: touch_jobs(cluster))

    (outcome,) = play.through(way).evict(cluster.pods("web")[0])
    cluster.clock.sleep(LONG)
    play.take_up()

    assert outcome.landed_on, outcome.message
    assert play.jobs() == ()


def find_no_room(cluster: LivingCluster) -> None:
    """A job gives its Reservation back, which gets no node in time."""
    cluster.pause_scheduling()
    (outcome,) = Play(cluster, ttl=timedelta(seconds=5)).evict(cluster.pods("web")[0])
    assert outcome.code is OutcomeCode.NO_ROOM


def touch_jobs(cluster: LivingCluster) -> None:
    """Changes what keeps jobs, so that its resource version is another."""
    for kind in ("podmigrationjobs.scheduling.koordinator.sh", "configmaps"):
        for found in cluster.all(kind):
            meta = found["metadata"]
            with cluster.store.acting("somebody"):
                cluster.store.edit(kind, meta["name"], meta.get("namespace", ""), relabel)


def relabel(found: dict[str, dict[str, dict[str, str]]]) -> None:
    """Another label."""
    found["metadata"]["labels"] = {**(found["metadata"].get("labels") or {}), "touched": "yes"}


def asked(cluster: LivingCluster) -> set[Grant]:
    """What the requests of the program took."""
    ours = (call.request for call in cluster.api.calls if call.request.agent == "us")
    found: Iterable[Grant | None] = (requested(Request(each.method, each.path)) for each in ours)
    return {grant for grant in found if grant is not None}
