"""A patch without an answer: a look at the job tells what became of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from descheduler.kube.errors import ApiError
from descheduler.migration.store.unclear import CreationUnclear, create_surely, patch_surely
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


class Creating:
    """A server that answers the creation of job `j` with this, and on which a look at the job finds that."""

    def __init__(self, answer: MigrationJob | Exception | None, found: MigrationJob | Exception | None) -> None:
        self._answers = {"create": answer, "read": found}
        self.calls: list[str] = []

    def create(self, path: str, body: object, decode: Callable[[bytes], object]) -> MigrationJob | None:
        """The answer."""
        return self._answer("create", path)

    def read(self, path: str, decode: Callable[[bytes], object]) -> MigrationJob | None:
        """What is found."""
        return self._answer("read", path)

    def _answer(self, call: str, path: str) -> MigrationJob | None:
        self.calls.append(f"{call} {path}")
        answer = self._answers[call]
        if isinstance(answer, Exception):
            raise answer
        return answer


def create(server: Creating) -> MigrationJob:
    body = {"kind": "PodMigrationJob", "metadata": {"name": "j"}}
    return create_surely(cast(Any, server), "/jobs", body, cast(Any, None))


LOST = TransportError("the connection was lost")
WITHOUT_UID = MigrationJob("j", "", "shop", "web-0", "u", resource_version="1")
REFUSED = ApiError("the quota is used up", status_code=403, reason="Forbidden")


def test_job_of_a_whole_answer_is_not_looked_for() -> None:
    server = Creating(job("1"), None)

    assert create(server) == job("1")
    assert server.calls == ["create /jobs"]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(LOST, id="no answer"),
        pytest.param(ApiError("the proxy gave up", status_code=504), id="the word of a proxy"),
        pytest.param(job(""), id="an answer without a resource version"),
        pytest.param(WITHOUT_UID, id="an answer without a UID"),
        pytest.param(None, id="there is one of the name, of an earlier call"),
    ],
)
def test_job_whose_creation_has_no_clear_answer_is_looked_for(answer: MigrationJob | Exception | None) -> None:
    server = Creating(answer, job("1"))

    assert create(server) == job("1")
    assert server.calls == ["create /jobs", "read /jobs/j"]


def test_job_that_the_server_refuses_is_not_looked_for() -> None:
    server = Creating(REFUSED, job("1"))

    with pytest.raises(ApiError, match="the quota is used up"):
        create(server)
    assert server.calls == ["create /jobs"]


@pytest.mark.parametrize(
    ("found", "why"),
    [
        pytest.param(None, "it does not exist: the connection was lost", id="nothing"),
        pytest.param(job(""), "it does not exist", id="no resource version"),
        pytest.param(WITHOUT_UID, "it does not exist", id="no UID"),
        pytest.param(TransportError("again"), "cannot be read: again", id="no answer either"),
    ],
)
def test_creation_stays_unclear_where_the_look_finds_no_job(found: MigrationJob | Exception | None, why: str) -> None:
    with pytest.raises(CreationUnclear, match=why):
        create(Creating(LOST, found))


def test_patch_that_the_server_refuses_has_no_effect() -> None:
    class Refusing(CutOff):
        def patch(self, path: str, body: object, decode: Callable[[bytes], object]) -> MigrationJob | None:
            """A refusal."""
            raise REFUSED

    with pytest.raises(ApiError, match="the quota is used up"):
        patched_by(Refusing(job("2", "Succeed")))


def test_answer_without_a_uid_is_not_the_job() -> None:
    assert patched_by(Answering(WITHOUT_UID, job("2", "Succeed"))) == job("2", "Succeed")
