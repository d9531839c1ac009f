"""Whether a plan from a file is of this cluster and this policy, and not too old."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from descheduler.cycle.applying.changes import refused
from descheduler.cycle.options import PlanToApply
from descheduler.policy.plugin_faults import failure_words
from descheduler.policy.types import Policy
from descheduler.report.plan.file import ClusterIdentity, PlanFile

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient

_NAMESPACE = "/api/v1/namespaces/kube-system"
_CLOCKS_APART = timedelta(minutes=5)


class _Metadata(msgspec.Struct):
    uid: str = ""


class _Namespace(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


_decode_namespace = msgspec.json.Decoder(_Namespace).decode


def cluster_uid(client: KubeClient) -> str:
    """The UID of the namespace kube-system, which no other cluster has; "" where it cannot be read."""
    from descheduler.transport.errors import ExchangeError

    try:
        return client.fetch(_NAMESPACE, _decode_namespace).metadata.uid
    except ExchangeError:
        return ""


def check_identity(plan: PlanToApply, policy: Policy, cluster: ClusterIdentity, now: datetime) -> None:
    """Raises PlanRefusedError unless the plan is of this cluster and policy, and not too old."""
    changes = [*_foreign(plan.file, policy, cluster), *_outdated(plan, now)]
    if changes:
        raise refused(changes)


def _foreign(file: PlanFile, policy: Policy, cluster: ClusterIdentity) -> Iterator[str]:
    planned, digest = file.cluster, file.plan.policy.digest
    if planned.uid and cluster.uid and planned.uid != cluster.uid:
        yield f"another cluster: planned on {planned.server} ({planned.uid}), this is {cluster.server} ({cluster.uid})"
    if digest != policy.digest:
        yield f"another policy: planned with digest {digest}, {policy.path} has {policy.digest}"
    planned_files = {each.path: each.digest for each in file.plan.policy.scheduler_files}
    if planned_files != {each.path: each.digest for each in policy.scheduler_files.values()}:
        yield "the scheduler configuration that the policy names has changed"
    if file.plan.skipped:
        yield f"the plan was skipped: {file.plan.skipped}"
    for each in file.plan.failures:
        yield f"plugin {each.plugin} failed: {failure_words(each.plugin, each.message)}"


def _outdated(plan: PlanToApply, now: datetime) -> Iterator[str]:
    taken_at = plan.file.plan.snapshot.taken_at or plan.file.plan.now
    try:
        age = now - taken_at
    except TypeError:
        yield f"the time of its snapshot ({taken_at.isoformat()}) has no time zone"
        return
    if age > plan.max_age:
        yield f"its snapshot is {_seconds(age)} old (--max-age: {_seconds(plan.max_age)})"
    if age < -_CLOCKS_APART:
        yield f"its snapshot is of {taken_at.isoformat()}, which is in the future; check the clocks"


def _seconds(duration: timedelta) -> str:
    return f"{duration.total_seconds():,.0f} s"
