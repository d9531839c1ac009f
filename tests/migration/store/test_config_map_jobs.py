"""Jobs kept as ConfigMaps: what is read of them whatever they hold, and what is written when."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from descheduler.migration.room.labels import OWNER_LABEL
from descheduler.migration.store.config_map_jobs import ConfigMapJobs
from descheduler.migration.store.journal import NewJob
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.transport.errors import ExchangeError
from tests.faults.faults import Act, Delivery, Fault
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay
from tests.migration.roads.playing import Play

WANTED = NewJob("shop", "web-0", "uid", "EvictDirectly", "a reason", "Plugin", "placeholder")


def world() -> LivingCluster:
    """A cluster in which nothing happens by itself."""
    return LivingCluster(acts=False, has_koordinator=False)


def journal_of(cluster: LivingCluster) -> ConfigMapJobs:
    journal = Play(cluster, keeps_objects=False).journal()
    assert isinstance(journal, ConfigMapJobs)
    return journal


def created(cluster: LivingCluster) -> MigrationJob:
    journal = journal_of(cluster)
    return journal.create(WANTED, journal.new_name())


def break_job(cluster: LivingCluster, job: MigrationJob, text: str) -> None:
    """Somebody writes this over what the ConfigMap holds."""
    body = json.dumps({"data": {"job.json": text}}).encode()
    path = f"/api/v1/namespaces/kube-system/configmaps/{job.name}"
    kind = "application/merge-patch+json"
    cluster.client(agent="admin").send("PATCH", path, body=body, content_type=kind)


def without_version(job: MigrationJob | None) -> MigrationJob | None:
    return None if job is None else replace(job, resource_version="")


def test_job_is_read_as_it_was_created_and_saved() -> None:
    cluster = world()
    job = created(cluster)

    kept = journal_of(cluster).save(job, replace(job, phase="Running", node_name="n2"))

    assert kept is not None
    assert (kept.phase, kept.node_name, kept.pod_uid) == ("Running", "n2", "uid")
    assert journal_of(cluster).read(job) == journal_of(cluster).find(job.name) == kept
    assert journal_of(cluster).found().jobs == (kept,)


def test_what_holds_no_job_is_told_and_left_alone() -> None:
    cluster = world()
    job = created(cluster)
    break_job(cluster, job, "[" * 10)

    found = journal_of(cluster).found()

    (note,) = found.notes
    assert (list(found.jobs), list(found.unread)) == ([], [job.uid])
    assert f"ConfigMap {job.name} has the label {OWNER_LABEL}=test" in note
    assert "job.json does not hold a job" in note


def test_job_that_was_broken_or_removed_meanwhile_is_gone() -> None:
    cluster = world()
    job, removed = created(cluster), created(cluster)
    break_job(cluster, job, "{}}")
    journal_of(cluster).delete(removed)

    assert journal_of(cluster).read(job) is None
    assert journal_of(cluster).read(removed) is None
    assert journal_of(cluster).find(removed.name) is None


class Answering:
    """A server that answers each look at a ConfigMap with this."""

    def __init__(self, text: str) -> None:
        self._text = text.encode()

    def read(self, path: str, decode: object) -> object:
        """The answer, as it is decoded."""
        assert callable(decode)
        try:
            return decode(self._text)
        except ValueError as error:
            raise ExchangeError(str(error)) from error


@pytest.mark.parametrize("metadata", ["{}", '{"name": "j"}', '{"name": "j", "uid": ""}'])
def test_answer_that_does_not_say_which_object_it_is_is_no_object(metadata: str) -> None:
    """Such a job is not taken for gone: nothing would be done about it any more."""
    journal = ConfigMapJobs(Answering(f'{{"metadata": {metadata}}}'), "kube-system", "test")  # type: ignore[arg-type]

    with pytest.raises(ExchangeError, match="metadata"):
        journal.read(MigrationJob("j", "Running", "shop", "web-0", "u", uid="j"))


def changed(job: MigrationJob, *names: str) -> MigrationJob:
    """`job` with another phase, another annotation, or both."""
    told = replace(job, annotations={**job.annotations, "descheduler/surge": "{}"}) if "annotation" in names else job
    return replace(told, phase="Running") if "phase" in names else told


@pytest.mark.parametrize("names", [["phase"], ["annotation"], ["phase", "annotation"], []])
def test_job_is_written_once_and_only_if_it_says_something_else(names: list[str]) -> None:
    cluster = world()
    job = created(cluster)

    kept = journal_of(cluster).save(job, changed(job, *names))

    assert without_version(kept) == without_version(changed(job, *names))
    assert len(cluster.api.sent("PATCH")) == bool(names)


@pytest.mark.parametrize("names", [["phase"], ["annotation"], ["phase", "annotation"]])
@pytest.mark.parametrize("act", [Act.AT_ONCE, Act.NEVER])
def test_job_that_was_written_without_an_answer_is_looked_at(names: list[str], act: Act) -> None:
    cluster = world()
    job = created(cluster)
    reset = Fault(act, delivery=Delivery.RESET)
    way = FaultyWay(cluster.api, lambda call: reset if call.request.method == "PATCH" else None)
    journal = Play(cluster, keeps_objects=False).through(way).journal()

    if act is Act.AT_ONCE:
        assert without_version(journal.save(job, changed(job, *names))) == without_version(changed(job, *names))
    else:
        with pytest.raises(ExchangeError):
            journal.save(job, changed(job, *names))
