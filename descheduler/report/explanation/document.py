"""The document `Explanation`: what a run decides about a pod or a workload, or how things stand, and why."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from descheduler.documents.fields import Fields
from descheduler.report.document import ApiVersion, PolicyIdentity, SnapshotIdentity
from descheduler.report.explanation.budget import BudgetsExplanation
from descheduler.report.explanation.device import DeviceExplanation
from descheduler.report.explanation.group import GroupExplanation
from descheduler.report.explanation.migration_job import MigrationJobExplanation
from descheduler.report.explanation.node import NodeExplanation
from descheduler.report.explanation.plugin import PluginExplanation
from descheduler.report.explanation.pod import PodExplanation
from descheduler.report.explanation.pod_group import PodGroupExplanation
from descheduler.report.explanation.quota import QuotaExplanation
from descheduler.report.explanation.reservation import ReservationExplanation

__all__ = ["Explanation"]


class Explanation(Fields, frozen=True):
    """The subject, in one of `pod`, `node`, `plugin`, `quota`, `reservation`, `pod_group`, `device`, `migration_job`,
    `budgets` and `group`, the pods of a workload or a namespace; the others are null.

    `policy` is null without a policy, `snapshot` without a cluster or a dump. `now` is the instant that all ages
    were taken at.
    """

    api_version: ApiVersion
    kind: Literal["Explanation"]
    now: datetime
    policy: PolicyIdentity | None
    snapshot: SnapshotIdentity | None
    pod: PodExplanation | None
    node: NodeExplanation | None
    plugin: PluginExplanation | None
    group: GroupExplanation | None
    quota: QuotaExplanation | None
    reservation: ReservationExplanation | None
    pod_group: PodGroupExplanation | None
    device: DeviceExplanation | None
    migration_job: MigrationJobExplanation | None
    budgets: BudgetsExplanation | None
    warnings: tuple[str, ...]
