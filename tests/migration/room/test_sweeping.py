"""What earlier runs have left is removed, unless it is not ours, or is needed, or a right is missing."""

from __future__ import annotations

import pytest

from descheduler.kube.errors import ApiError
from descheduler.migration.room.sweeping import KnownJobs, LabelledObject, Swept, sweep
from descheduler.model.koordinator.migration_job import MigrationJob

OVER = MigrationJob("j", "Failed", "shop", "web-0", "old", uid="over")
JOBS = KnownJobs(frozenset({"live"}), {"over": OVER}, frozenset({"foreign"}))


def labelled(job_uid: str, differs: str = "") -> LabelledObject:
    return LabelledObject("pod", f"p-{job_uid}", f"/pods/p-{job_uid}", f"uid-{job_uid}", job_uid, differs)


def refusing(code: int, reason: str) -> ApiError:
    return ApiError("the answer", status_code=code, reason=reason)


@pytest.mark.parametrize(
    ("found", "swept"),
    [
        pytest.param(labelled("over"), Swept(("p-over",)), id="over"),
        pytest.param(labelled("nobody-s"), Swept(("p-nobody-s",)), id="no more"),
        pytest.param(labelled("live"), Swept(), id="live"),
        pytest.param(labelled("live", "it is a copy"), Swept((), ("it is a copy",)), id="a copy, of a live one"),
        pytest.param(
            labelled("foreign"), Swept((), ("the job with UID foreign is not of this program",)), id="of others"
        ),
    ],
)
def test_room_goes_with_its_job(found: LabelledObject, swept: Swept) -> None:
    done = sweep([found], JOBS, "us", lambda each: True)

    notes = [f"pod {found.name} has the label descheduler/jobs-of=us and was left alone: {why}" for why in swept.notes]
    assert done == Swept(swept.removed, tuple(notes))


def test_room_that_is_not_as_its_job_would_have_it_is_left_alone() -> None:
    asked = list[str]()

    def differs(found: LabelledObject, job: MigrationJob) -> str:
        asked.append(f"{found.name} of {job.uid}")
        return "it is elsewhere"

    done = sweep([labelled("over"), labelled("nobody-s"), labelled("live")], JOBS, "us", lambda each: True, differs)

    assert (asked, done.removed) == (["p-over of over"], ("p-nobody-s",))
    assert [note.endswith("it is elsewhere") for note in done.notes] == [True]


def test_room_that_was_gone_already_is_not_told_as_removed() -> None:
    assert sweep([labelled("over")], JOBS, "us", lambda each: False) == Swept()


def test_right_that_is_missing_is_told_and_the_rest_removed() -> None:
    def delete(each: LabelledObject) -> bool:
        if each.job_uid == "over":
            raise refusing(403, "Forbidden")
        return True

    done = sweep([labelled("over"), labelled("nobody-s")], JOBS, "us", delete)

    assert done == Swept(("p-nobody-s",), ("pod p-over of an earlier run could not be removed: the answer",))


def test_other_refusals_end_the_sweep() -> None:
    def delete(each: LabelledObject) -> bool:
        raise refusing(500, "InternalError")

    with pytest.raises(ApiError, match="the answer"):
        sweep([labelled("over")], JOBS, "us", delete)
