"""What a job is to know outlives the run that has begun it, wherever jobs are kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from msgspec.structs import replace

from descheduler.migration.room.koordinator.live_reservations import decode_any_reservation
from descheduler.migration.room.placeholder.ours import decode_placeholder
from descheduler.migration.room.placeholder.pod import PlaceholderSettings
from descheduler.migration.store.job_objects import decode_any_job
from descheduler.migration.store.journal import NewJob
from tests.living.builders import living_cluster
from tests.living.cluster import LivingCluster
from tests.migration.roads.playing import Play
from tests.worlds.mutations import mutations
from tests.worlds.samples import SAMPLES

KEPT = pytest.mark.parametrize("keeps_objects", [True, False], ids=["PodMigrationJobs", "ConfigMaps"])


def wanted(held_on: str = "") -> NewJob:
    return NewJob("shop", "web-0", "uid", "ReservationFirst", "a reason", "Plugin", "koordinator", held_on=held_on)


def held_on(cluster: LivingCluster, *, keeps_objects: bool) -> list[str]:
    """The nodes on which jobs want room, as another run reads them."""
    return [job.held_on for job in Play(cluster, keeps_objects=keeps_objects).jobs()]


@KEPT
def test_job_keeps_the_node_on_which_room_is_held_when_it_goes_on(keeps_objects: bool) -> None:
    cluster = living_cluster()
    journal = Play(cluster, keeps_objects=keeps_objects).journal()
    created = journal.create(wanted("n3"), journal.new_name())
    before = held_on(cluster, keeps_objects=keeps_objects)

    journal.save(created, replace(created, phase="Running", reservation_name="r"))

    assert (before, held_on(cluster, keeps_objects=keeps_objects)) == (["n3"], ["n3"])


@KEPT
def test_job_whose_node_the_scheduler_chooses_has_no_annotation_of_one(keeps_objects: bool) -> None:
    journal = Play(living_cluster(), keeps_objects=keeps_objects).journal()

    created = journal.create(wanted(), journal.new_name())

    assert (created.held_on, "descheduler/target-node" in created.annotations) == ("", False)


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "decode"),
    [
        ("PodMigrationJob", decode_any_job),
        ("Reservation", decode_any_reservation),
        ("Pod", partial(decode_placeholder, owner="p", settings=PlaceholderSettings())),
    ],
)
def test_damaged_object_is_read_or_is_no_such_object(kind: str, decode: Callable[[bytes], object]) -> None:
    """Lists pass over objects for which ValueError is raised, and for no other error."""
    for item in mutations(SAMPLES[kind], 200, seed=4):
        try:
            found = decode(item)
        except (ValueError, RecursionError):
            continue
        assert found is not None
