"""Jobs kept as PodMigrationJobs: which of those that cannot be decoded are ended, and what is written when."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.migration.store.job_objects import JobObjects, decode_any_job
from descheduler.migration.store.journal import NewJob
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.koordinator.reservation import ObjectReference
from descheduler.transport.errors import TransportError
from tests.faults.faults import Act, Delivery, Fault
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay
from tests.migration.roads.playing import Play

JOBS = "podmigrationjobs.scheduling.koordinator.sh"
PATH = "/apis/scheduling.koordinator.sh/v1alpha1/podmigrationjobs"
CREATED_BY = "koordinator.sh/job-created-by"
WANTED = NewJob("shop", "web-0", "uid", "ReservationFirst", "a reason", "Plugin", "koordinator", timedelta(minutes=5))
RUNNING = {"phase": "Running"}


def add_broken(cluster: LivingCluster, name: str, created_by: str | None = None, status: object = RUNNING) -> None:
    """A PodMigrationJob whose `ttl` is a number."""
    annotations = {} if created_by is None else {CREATED_BY: created_by}
    cluster.add(
        {
            "apiVersion": "scheduling.koordinator.sh/v1alpha1",
            "kind": "PodMigrationJob",
            "metadata": {"name": name, "annotations": annotations},
            "spec": {"ttl": 5, "podRef": {"namespace": "shop", "name": "web-0"}},
            "status": status,
        }
    )


def journal_of(cluster: LivingCluster) -> JobObjects:
    journal = Play(cluster).journal()
    assert isinstance(journal, JobObjects)
    return journal


def test_only_a_user_s_job_that_cannot_be_decoded_and_goes_on_is_failed() -> None:
    cluster = LivingCluster(acts=False)
    add_broken(cluster, "of-a-user")
    add_broken(cluster, "new", status=None)
    add_broken(cluster, "with-a-broken-status", status={"phase": 7})
    add_broken(cluster, "ours", "descheduler-test")
    add_broken(cluster, "of-another-program", "another")
    for phase in ("Succeeded", "Failed", "Aborted"):
        add_broken(cluster, f"ended-as-{phase.lower()}", status={"phase": phase})
    journal = journal_of(cluster)
    found = journal.found()

    told = journal.fail_broken(lambda: True)

    failed = {name.partition(":")[0] for name in told}
    assert failed == {"of-a-user", "new", "with-a-broken-status"}
    assert all("ttl" in each for each in told)
    assert {job["metadata"]["name"] for job in cluster.all(JOBS) if _reason(job) == "InvalidJob"} == failed
    assert len(found.unread) == 8
    assert [note.partition(" has")[0] for note in found.notes] == ["PodMigrationJob ours"]


def _reason(job: dict[str, Any]) -> object:
    return (job["status"] or {}).get("reason")


@pytest.mark.parametrize("names", [[], ["of-a-user"]])
def test_jobs_of_users_are_left_alone_by_a_program_that_does_not_look_after_them(names: list[str]) -> None:
    cluster = LivingCluster(acts=False)
    asked = list[str]()
    for name in names:
        add_broken(cluster, name)
    journal = journal_of(cluster)
    journal.found()

    def are_ours() -> bool:
        asked.append("are they ours?")
        return False

    assert journal.fail_broken(are_ours) == ()
    assert not cluster.api.sent("PATCH")
    assert len(asked) == len(names)  # nobody is asked where there is no such job


@pytest.mark.parametrize("is_changed", [True, False], ids=["changed", "removed"])
def test_job_that_was_changed_or_removed_meanwhile_is_not_failed(*, is_changed: bool) -> None:
    cluster = LivingCluster(acts=False)
    add_broken(cluster, "of-a-user")
    journal = journal_of(cluster)
    journal.found()
    if is_changed:
        edit(cluster, "of-a-user")
    else:
        cluster.remove(cluster.all(JOBS)[0])

    assert journal.fail_broken(lambda: True) == ()


@pytest.mark.parametrize(
    "metadata",
    [
        b"null",
        b'{"name": "j", "uid": "u"}',
        b'{"name": "j", "resourceVersion": "1"}',
        b'{"uid": "u", "resourceVersion": "1"}',
        b'{"name": 1, "uid": "u", "resourceVersion": "1"}',
        b'{"name": "../nodes/n1", "uid": "u", "resourceVersion": "1"}',
    ],
)
def test_what_does_not_say_which_job_it_is_is_none(metadata: bytes) -> None:
    with pytest.raises(ValueError, match="metadata is invalid"):
        decode_any_job(b'{"metadata": %s, "spec": {"ttl": 5}}' % metadata)


def test_job_that_is_nested_too_deeply_is_told_from_the_others() -> None:
    deep = b"[" * 100_000

    with pytest.raises(ValueError, match="nested too deeply"):
        decode_any_job(b'{"metadata": {"name": "j", "uid": "u", "resourceVersion": "1"}, "spec": %s' % deep)


def created(cluster: LivingCluster) -> MigrationJob:
    journal = journal_of(cluster)
    return journal.create(WANTED, journal.new_name())


CHANGES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "phase": {"phase": "Running"},
    "node": {"node_name": "n2"},
    "replacement": {"replacement": ObjectReference("shop", "web-1", "new")},
    "room": {"reservation_name": "r"},
    "pod": {"pod_uid": "another"},
}
SPEC = frozenset({"room", "pod"})


def changed(job: MigrationJob, *names: str) -> MigrationJob:
    """`job` with these changes; "annotation" is one more."""
    annotations = {**job.annotations, **({"descheduler/surge": "{}"} if "annotation" in names else {})}
    facts = {key: fact for name in names for key, fact in CHANGES.get(name, {}).items()}
    return replace(job, annotations=annotations, **facts)


@pytest.mark.parametrize(
    ("names", "num_of_job", "num_of_status"),
    [
        pytest.param([], 0, 0, id="nothing"),
        pytest.param(["phase"], 0, 1, id="the phase"),
        pytest.param(["node"], 0, 1, id="the node"),
        pytest.param(["replacement"], 0, 1, id="the replacement"),
        pytest.param(["room"], 1, 0, id="the room"),
        pytest.param(["pod"], 1, 0, id="the pod"),
        pytest.param(["annotation"], 1, 0, id="an annotation"),
        pytest.param(["pod", "annotation", "phase"], 1, 1, id="spec, annotation and status"),
    ],
)
def test_only_what_has_changed_is_written(names: list[str], num_of_job: int, num_of_status: int) -> None:
    cluster = LivingCluster(acts=False)
    job = created(cluster)

    kept = journal_of(cluster).save(job, changed(job, *names))

    assert kept is not None
    assert replace(kept, resource_version="") == replace(changed(job, *names), resource_version="")
    assert len(cluster.api.sent("PATCH", "/status")) == num_of_status
    assert len(cluster.api.sent("PATCH")) == num_of_job + num_of_status


def save_without_an_answer(
    names: list[str], act: Act, *, is_changed_meanwhile: bool = False
) -> tuple[MigrationJob, MigrationJob | None]:
    """What was to be saved, and what saving gave, where the connection is lost whenever something is written."""
    cluster = LivingCluster(acts=False)
    job = created(cluster)
    reset = Fault(act, delivery=Delivery.RESET)
    way = FaultyWay(cluster.api, lambda call: reset if call.request.method == "PATCH" else None)
    if is_changed_meanwhile:
        way.before("PATCH", "", lambda: edit(cluster, job.name))
    return changed(job, *names), Play(cluster).through(way).journal().save(job, changed(job, *names))


def edit(cluster: LivingCluster, name: str) -> None:
    """Somebody else sets a label of the job."""
    body = b'{"metadata": {"labels": {"somebody": "else"}}}'
    kind = "application/merge-patch+json"
    cluster.client(agent="admin").send("PATCH", f"{PATH}/{name}", body=body, content_type=kind)


@pytest.mark.parametrize(
    "names", [["phase"], ["room"], ["pod"], ["annotation"], ["room", "annotation"], ["room", "annotation", "phase"]]
)
def test_what_was_saved_without_an_answer_is_found_in_the_job(names: list[str]) -> None:
    wanted, kept = save_without_an_answer(names, Act.AT_ONCE)

    assert kept is not None
    assert replace(kept, resource_version="") == replace(wanted, resource_version="")


@pytest.mark.parametrize("names", [["phase"], ["room"], ["annotation"], ["room", "annotation"]])
def test_what_may_yet_be_saved_is_an_error(names: list[str]) -> None:
    with pytest.raises(TransportError):
        save_without_an_answer(names, Act.NEVER)


@pytest.mark.parametrize("names", [["phase"], ["room"], ["annotation"], ["room", "annotation"]])
def test_what_cannot_be_saved_any_more_is_not(names: list[str]) -> None:
    _, kept = save_without_an_answer(names, Act.NEVER, is_changed_meanwhile=True)

    assert kept is None
