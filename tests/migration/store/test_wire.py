"""Which jobs are ours, wherever they are kept, and what those of others say of themselves that does not count."""

from __future__ import annotations

import json
from typing import Any

import pytest

from descheduler.migration.room.labels import OWNER_LABEL
from descheduler.migration.store.wire import MAP_PREFIX
from descheduler.model.koordinator.eviction_annotations import (
    CREATED_BY_ANNOTATION,
    PASSED_ARBITRATION_ANNOTATION,
    PROVIDER_ANNOTATION,
    ROOMS_ANNOTATION,
    SURGE_ANNOTATION,
)
from tests.living.cluster import LivingCluster
from tests.migration.roads.playing import Play

NAME = "99999999-2222-4333-8444-555555555555"
OWNERS = {"PodMigrationJob": "descheduler-test", "ConfigMap": "test"}
KINDS = pytest.mark.parametrize("kind", list(OWNERS))


def add(cluster: LivingCluster, kind: str, *, name: str = NAME, owner: str = "", **facts: Any) -> None:
    """A job as this program writes it, apart from these facts: annotations, metadata, and parts of the spec."""
    annotations = {
        CREATED_BY_ANNOTATION: owner or OWNERS[kind],
        PASSED_ARBITRATION_ANNOTATION: "true",
        PROVIDER_ANNOTATION: "koordinator",
        **facts.pop("annotations", {}),
    }
    metadata = {"annotations": {key: text for key, text in annotations.items() if text is not None}}
    metadata |= facts.pop("metadata", {})
    spec = {"podRef": {"namespace": "shop", "name": "web-0", "uid": "u"}, "mode": "EvictDirectly", **facts}
    if kind == "ConfigMap":
        head = {"name": f"{MAP_PREFIX}{name}", "namespace": "kube-system", "labels": {OWNER_LABEL: "test"}}
        data = {"job.json": json.dumps({"spec": spec})}
        cluster.add({"apiVersion": "v1", "kind": kind, "metadata": {**head, **metadata}, "data": data})
    else:
        whole = {"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": kind, "spec": spec}
        cluster.add(whole | {"metadata": {"name": name, **metadata}})


def play(cluster: LivingCluster, kind: str) -> Play:
    return Play(cluster, keeps_objects=kind == "PodMigrationJob")


@KINDS
def test_job_as_this_program_writes_it_is_ours(kind: str) -> None:
    cluster = LivingCluster(acts=False)
    add(cluster, kind)

    found = play(cluster, kind).journal().found()

    assert (len(found.jobs), found.notes, found.unread) == (1, (), frozenset())


@KINDS
@pytest.mark.parametrize(
    ("facts", "why"),
    [
        pytest.param({"name": "backup"}, "its name is not", id="a name that is no UUID"),
        pytest.param({"name": f"{NAME}-2"}, "its name is not", id="more than a UUID"),
        pytest.param(
            {"metadata": {"ownerReferences": [{"kind": "CronJob", "name": "c"}]}}, "CronJob c owns it", id="an owner"
        ),
        pytest.param({"annotations": {PASSED_ARBITRATION_ANNOTATION: None}}, "does not state all", id="not admitted"),
        pytest.param({"annotations": {PASSED_ARBITRATION_ANNOTATION: "1"}}, "does not state all", id="half admitted"),
        pytest.param({"annotations": {PROVIDER_ANNOTATION: None}}, "does not state all", id="no provider"),
        pytest.param({"mode": ""}, "does not state all", id="no mode"),
        pytest.param({"podRef": {"namespace": "shop", "name": "web-0"}}, "does not state all", id="no UID of a pod"),
    ],
)
def test_what_claims_to_be_ours_and_differs_is_told(kind: str, facts: dict[str, Any], why: str) -> None:
    cluster = LivingCluster(acts=False)
    add(cluster, kind, **facts)

    (note,) = play(cluster, kind).journal().found().notes

    assert note.startswith(f"{kind} ")
    assert "was left alone" in note
    assert why in note


def test_pod_migration_job_of_somebody_else_is_no_news() -> None:
    cluster = LivingCluster(acts=False)
    add(cluster, "PodMigrationJob", owner="somebody", name="job")

    found = play(cluster, "PodMigrationJob").journal().found()

    assert (len(found.jobs), found.notes) == (1, ())


def test_config_map_with_our_label_that_somebody_else_has_created_is_told() -> None:
    cluster = LivingCluster(acts=False)
    add(cluster, "ConfigMap", owner="somebody")
    add(cluster, "ConfigMap", name=NAME.replace("9", "8"), metadata={"name": NAME})

    found = play(cluster, "ConfigMap").journal().found()

    assert found.jobs == ()
    assert [note.rpartition("left alone: ")[2] for note in found.notes] == [
        f"its name is not {MAP_PREFIX}UUID",
        f"its annotation {CREATED_BY_ANNOTATION} is not test",
    ]


@pytest.mark.parametrize(
    ("owner", "name", "is_kept"),
    [
        pytest.param(OWNERS["PodMigrationJob"], NAME, True, id="a job of ours"),
        pytest.param("somebody", NAME, False, id="another program's job"),
        pytest.param(OWNERS["PodMigrationJob"], "job", False, id="a job with another name"),
    ],
)
@pytest.mark.parametrize("mark", [SURGE_ANNOTATION, PROVIDER_ANNOTATION, ROOMS_ANNOTATION])
def test_only_jobs_of_ours_say_how_they_are_carried_out(owner: str, name: str, mark: str, *, is_kept: bool) -> None:
    """What somebody else writes into the annotation of a surge, a provider or rooms is not read."""
    cluster = LivingCluster(acts=False)
    marks = {SURGE_ANNOTATION: None, PROVIDER_ANNOTATION: None, ROOMS_ANNOTATION: None, mark: "text"}
    add(cluster, "PodMigrationJob", owner=owner, name=name, annotations=marks)

    (job,) = play(cluster, "PodMigrationJob").jobs()

    assert (mark in job.annotations) is is_kept
    assert job.annotations[CREATED_BY_ANNOTATION] == owner
    assert job.has_passed
