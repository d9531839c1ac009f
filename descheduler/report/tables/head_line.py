"""The first line of every table: which policy, cluster or dump, time and plan it is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from descheduler.report.document import ShardIdentity, SnapshotIdentity
from descheduler.report.identities import shard_of
from descheduler.report.outcome.document import OutcomeDocument
from descheduler.report.outcome.status_document import StatusDocument
from descheduler.report.plan.document import Plan
from descheduler.report.simulation_document import Simulation
from descheduler.report.tables.table_style import TableStyle


def head_lines(parts: Sequence[str], style: TableStyle) -> Iterator[str]:
    """The `parts` that are not empty, such as `Policy: a.yaml; dump: b.json`, and an empty line.

    Nothing where rows are for other programs, or where only the summary is shown.
    """
    said = "; ".join(filter(None, parts))
    if said and style.has_headers and not style.is_quiet:
        yield from style.paragraph(said)
        yield ""


def head_parts(document: Plan | OutcomeDocument | StatusDocument | Simulation) -> Sequence[str]:
    """What the line says of `document`."""
    match document:
        case Plan(policy=policy, snapshot=snapshot, now=now, plan_id=plan_id):
            return policy_part(policy.path), cluster_part(snapshot), time_part(now), f"plan: {plan_id}"
        case OutcomeDocument(plan=plan):
            return head_parts(plan)
        case StatusDocument(runs=(latest, *_)):
            return policy_part(latest.policy), _shard_part(latest.shard), time_part(latest.at)
        case StatusDocument():
            return ()
        case Simulation(policies=policies, snapshot=snapshot, now=now):
            paths = " and ".join(each.policy.path for each in policies)
            return policy_part(paths), cluster_part(snapshot), time_part(now)


def policy_part(path: str) -> str:
    """Which policy it is."""
    return f"Policy: {path}"


def cluster_part(snapshot: SnapshotIdentity | None) -> str:
    """Which cluster or dump was read, and which shard of it the run may change; "" without one."""
    if snapshot is None:
        return ""
    source = f"{'cluster' if snapshot.is_live else 'dump'}: {snapshot.source}"
    return "; ".join(filter(None, (source, _shard_part(snapshot.shard))))


def _shard_part(shard: ShardIdentity | None) -> str:
    return "" if shard is None else shard_of(shard).whole_name


def time_part(moment: datetime) -> str:
    """When it was decided."""
    return f"time: {time_text(moment)}"


def time_text(moment: datetime) -> str:
    """Such as `2026-01-31T12:00:00Z`, to the second."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
