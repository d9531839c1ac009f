"""What a job is to know outlives the run that has begun it, wherever jobs are kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.migration.room.koordinator.live_reservations import decode_any_reservation
from descheduler.migration.room.placeholder.ours import decode_placeholder
from descheduler.migration.store.job_objects import decode_any_job
from descheduler.migration.store.journal import NewJob, if_same
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.transport.errors import ExchangeError
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


def job(uid: str, version: str = "1") -> MigrationJob:
    return MigrationJob("j", "Running", "shop", "web-0", "u", uid=uid, resource_version=version)


@pytest.mark.parametrize(
    ("found", "known", "is_same"),
    [
        pytest.param(job("one", "2"), job("one"), True, id="the same in another version"),
        pytest.param(job("one"), job(""), True, id="one of a snapshot, without a UID"),
        pytest.param(job("two"), job("one"), False, id="another of the same name"),
        pytest.param(None, job("one"), False, id="none"),
        pytest.param(None, job(""), False, id="none of the name that a snapshot has"),
    ],
)
def test_job_is_the_same_by_its_uid(found: MigrationJob | None, known: MigrationJob, *, is_same: bool) -> None:
    assert if_same(found, known) == (found if is_same else None)


@pytest.mark.parametrize("found", [job(""), job("one", ""), job("", "")], ids=["no UID", "no version", "neither"])
def test_answer_that_is_not_a_stored_object_is_an_error(found: MigrationJob) -> None:
    with pytest.raises(ExchangeError, match="is not a stored object"):
        if_same(found, job("one"))


@pytest.mark.parametrize("part", ["metadata", "spec", "status"])
def test_job_is_read_where_a_part_of_it_is_null(part: str) -> None:
    """As Kubernetes' own decoder does; what that part says is empty."""
    whole: dict[str, Any] = {
        "metadata": {"name": "j", "uid": "one", "resourceVersion": "7", "labels": {"a": "b"}},
        "spec": {"deleteOptions": {"gracePeriodSeconds": 1}, "reservationOptions": {"template": {"spec": {}}}},
        "status": {"message": "m", "conditions": [{"type": "Eviction", "status": "True", "message": "gone"}]},
    }

    read = decode_any_job(json.dumps(whole | {part: None}).encode())

    assert isinstance(read, MigrationJob)
    told = {
        "metadata": (read.name, read.uid, read.resource_version, read.labels),
        "spec": (read.delete_options, read.template),
        "status": (read.message, [(each.type, each.is_true, each.message) for each in read.conditions]),
    }
    empty: dict[str, object] = {"metadata": ("", "", "", {}), "spec": ({}, {}), "status": ("", [])}
    full: dict[str, object] = {
        "metadata": ("j", "one", "7", {"a": "b"}),
        "spec": ({"gracePeriodSeconds": 1}, {"spec": {}}),
        "status": ("m", [("Eviction", True, "gone")]),
    }
    assert told == full | {part: empty[part]}


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "decode"),
    [
        ("PodMigrationJob", decode_any_job),
        ("Reservation", decode_any_reservation),
        ("Pod", partial(decode_placeholder, owner="p")),
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
