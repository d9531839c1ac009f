"""A patch without an answer: a look at the job tells what became of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from descheduler.migration.store.unclear import patch_surely
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.transport.errors import TransportError

BODY = {"metadata": {"resourceVersion": "1"}}


class CutOff:
    """A server that answers no patch; the job is as it says."""

    def __init__(self, found: MigrationJob | None) -> None:
        self._found = found

    def patch(self, path: str, body: object, decode: Callable[[bytes], object]) -> MigrationJob | None:
        """No answer comes."""
        raise TransportError("the connection was lost")

    def read(self, path: str, decode: Callable[[bytes], object]) -> MigrationJob | None:
        """The job, if it is there."""
        return self._found


def job(version: str, phase: str = "Running") -> MigrationJob:
    return MigrationJob("j", phase, "shop", "web-0", "u", uid="j", resource_version=version)


def patched(found: MigrationJob | None) -> MigrationJob | None:
    return patched_by(CutOff(found))


def patched_by(server: CutOff) -> MigrationJob | None:
    return patch_surely(cast(Any, server), "/jobs/j", BODY, cast(Any, None), lambda each: each.phase == "Succeed")


def test_patch_that_had_its_effect_is_found_in_the_job() -> None:
    assert patched(job("2", "Succeed")) == job("2", "Succeed")


@pytest.mark.parametrize("found", [None, job("2")])
def test_patch_of_a_job_that_others_have_changed_or_removed_has_no_effect_any_more(found: MigrationJob | None) -> None:
    assert patched(found) is None


def test_patch_may_yet_have_its_effect_while_the_job_is_as_before() -> None:
    with pytest.raises(TransportError, match="the connection was lost"):
        patched(job("1"))


class Answering(CutOff):
    """A server that answers each patch with this job."""

    def __init__(self, answer: MigrationJob | None, found: MigrationJob) -> None:
        super().__init__(found)
        self._answer = answer

    def patch(self, path: str, body: object, decode: Callable[[bytes], object]) -> MigrationJob | None:
        """The answer."""
        return self._answer


def test_patch_that_finds_no_job_or_another_version_has_no_effect() -> None:
    assert patched_by(Answering(None, job("2", "Succeed"))) is None


def test_answer_without_a_resource_version_is_not_the_job() -> None:
    assert patched_by(Answering(job(""), job("2", "Succeed"))) == job("2", "Succeed")
