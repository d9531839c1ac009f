"""Jobs that the run alone keeps."""

from __future__ import annotations

from msgspec.structs import replace

from descheduler.migration.store.journal import MemoryJobs, NewJob

WANTED = NewJob("shop", "web-0", "uid", "EvictDirectly", "a reason", "Plugin", "none")


def test_job_begins_as_running_and_is_found_as_it_was_saved() -> None:
    journal = MemoryJobs()

    created = journal.create(WANTED, "job")
    kept = journal.save(created, replace(created, node_name="n2"))

    assert (created.phase, created.pod_uid, created.mode) == ("Running", "uid", "EvictDirectly")
    assert kept is not None
    assert kept.node_name == "n2"
    assert int(kept.resource_version) > int(created.resource_version)  # as the API server counts
    assert journal.find("job") == journal.read(created) == kept
    assert journal.found().jobs == (kept,)


def test_what_others_have_changed_or_removed_meanwhile_is_not_saved() -> None:
    journal = MemoryJobs()
    created = journal.create(WANTED, "job")
    kept = journal.save(created, replace(created, node_name="n2"))

    assert journal.save(created, replace(created, node_name="n3")) is None
    assert journal.find("job") == kept
    journal.delete(created)
    assert journal.save(created, created) is None
    assert journal.find("job") is None
