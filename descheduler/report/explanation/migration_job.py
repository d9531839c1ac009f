"""The part of an `Explanation` about a PodMigrationJob of Koordinator."""

from __future__ import annotations

from datetime import datetime

import msgspec

from descheduler.documents.fields import Fields
from descheduler.report.document import PodReference

__all__ = ["MigrationJobExplanation", "MigrationJobStep"]


class MigrationJobStep(Fields, frozen=True):
    """A condition of the job, as its status has it."""

    type: str
    is_true: bool = msgspec.field(name="true")
    reason: str
    at: datetime | None


class MigrationJobExplanation(Fields, frozen=True):
    """Everything about one PodMigrationJob.

    `pod` is the pod that it names, `node` the one that it is on, null where there is no such pod any more. `mode` is
    empty for the default of the controller. `ends_at` is null where the job has no time limit. `reservation` is the
    Reservation that it uses, and `replacement` the pod that came, each null without one. `notes` say what it waits
    for, and what is in its way.
    """

    name: str
    phase: str
    condition: str
    reason: str
    mode: str
    is_paused: bool = msgspec.field(name="paused")
    has_passed: bool = msgspec.field(name="passedArbitration")
    pod: PodReference
    node: str | None
    ends_at: datetime | None
    reservation: str | None
    replacement: PodReference | None
    steps: tuple[MigrationJobStep, ...]
    notes: tuple[str, ...]
