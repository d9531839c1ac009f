"""`descheduler explain`: why a pod, a node or a plugin stands where it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from descheduler.cli.errors import CommandError
from descheduler.cli.exit_code import ExitCode
from descheduler.cli.flags.connection import takes_connection
from descheduler.cli.flags.go import GoFlagsCommand
from descheduler.cli.flags.logging import takes_logging
from descheduler.cli.flags.values import read_file_name, read_kube_version
from descheduler.cli.inputs import dump_paths, log_snapshot, read_policy, takes_snapshot
from descheduler.cli.output import Output, takes_output, write_document
from descheduler.cli.stop_signals import stop_on_signals
from descheduler.supervision import Watch

if TYPE_CHECKING:
    from descheduler.cluster.snapshot import Snapshot
    from descheduler.cycle.options import ConnectionOptions
    from descheduler.eviction.placement_verification.landing_book import SchedulingSettings
    from descheduler.explanation.explaining import Subject
    from descheduler.model.kube_version import KubeVersion
    from descheduler.policy.types import Policy
    from descheduler.report.explanation.document import Explanation

__all__ = ["explain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flags:
    subject: Subject
    name: str
    policy_file: str | None
    snapshot: tuple[str, ...]
    now: datetime | None
    scheduler_config: str | None
    kube_version: KubeVersion | None
    skip_broken_objects: bool
    output: Output


@click.command(cls=GoFlagsCommand, short_help="Say why a pod, a node or a plugin stands where it stands.")
@click.argument("subject", type=click.Choice(["pod", "node", "plugin"]))
@click.argument("name", metavar="NAME")
@click.option(
    "--policy-config-file",
    "--config",
    "policy_file",
    callback=read_file_name,
    metavar="FILE",
    help="Policy whose decisions are explained; without it only landings are.",
)
@takes_snapshot(
    "Look at a dump instead of a cluster: a file, a folder or - for standard input; may be given several times."
)
@click.option(
    "--scheduler-config",
    metavar="FILE",
    help="KubeSchedulerConfiguration of the scheduler; by default the one that PlacementVerification of the policy "
    "names, else kube-scheduler's defaults.",
)
@click.option(
    "--kube-version",
    callback=read_kube_version,
    metavar="VERSION",
    help="Version of the scheduler, such as 1.34; by default that of the policy, else of the cluster, else the newest "
    "known.",
)
@takes_output("the explanation")
@takes_connection
@takes_logging
@click.pass_context
def explain(ctx: click.Context, /, connection: Callable[[], ConnectionOptions], **flags: object) -> None:
    """Say why a pod, a node or a plugin stands where it stands. Nothing is evicted or written anywhere.

    'pod NAMESPACE/NAME': what a run of the policy decides about the pod and why, where the pod that its owner creates
    instead would land, what the other nodes have against it, and which of them come nearest. Of a pending pod: why
    it is pending.

    'node NAME': which pods would leave the node, which stay and why, and which replacements would come.

    'plugin NAME': what a plugin of a policy or of the scheduler does, its arguments, and who runs it; with a policy
    and with --snapshot, --kubeconfig or --context also what it decided.

    Exit codes: 0 explained, 1 failed, 2 wrong usage, an invalid policy, or no such pod, node or plugin.
    """
    from descheduler.explanation.subjects import UnknownSubjectError

    options = _Flags(**flags)  # type: ignore[arg-type]  # click has checked every one
    policy = None if options.policy_file is None else read_policy(options.policy_file)
    try:
        explanation = _supervised(options, policy, connection(), ctx.ensure_object(Watch))
    except UnknownSubjectError as error:
        raise CommandError(str(error), ExitCode.INVALID) from error
    write_document(explanation, options.output)
    ctx.exit(ExitCode.DONE)


def _supervised(flags: _Flags, policy: Policy | None, connection: ConnectionOptions, watch: Watch) -> Explanation:
    """The explanation; of a cluster, until a signal ends it. With a dump a signal ends the program at once."""
    explain_now = partial(_explanation, flags, policy, connection)
    if flags.snapshot:
        return explain_now()
    with stop_on_signals(watch):
        return watch.call("reading the cluster and explaining", explain_now)


def _explanation(flags: _Flags, policy: Policy | None, connection: ConnectionOptions) -> Explanation:
    from descheduler.explanation.explaining import explain as make_explanation
    from descheduler.explanation.explaining import explain_plugin_alone

    if flags.subject == "plugin" and not (flags.snapshot or connection.kubeconfig or connection.context):
        now = flags.now or datetime.now(UTC)
        return explain_plugin_alone(flags.name, policy=policy, settings=_settings(flags, policy, None), now=now)
    snapshot, version = _dump(flags, policy) if flags.snapshot else _cluster(flags, policy, connection)
    log_snapshot(snapshot)
    settings = _settings(flags, policy, version)
    now = flags.now or snapshot.taken_at or datetime.now(UTC)
    return make_explanation(flags.subject, flags.name, snapshot, policy=policy, settings=settings, now=now)


def _settings(flags: _Flags, policy: Policy | None, cluster_version: KubeVersion | None) -> SchedulingSettings:
    from descheduler.explanation.settings import settings_for

    file = Path(flags.scheduler_config) if flags.scheduler_config else None
    return settings_for(policy, configuration_file=file, version=flags.kube_version, cluster_version=cluster_version)


def _dump(flags: _Flags, policy: Policy | None) -> tuple[Snapshot, None]:
    from descheduler.explanation.sources import read_dumps

    return read_dumps(dump_paths(flags.snapshot), policy, skip_broken=flags.skip_broken_objects), None


def _cluster(flags: _Flags, policy: Policy | None, connection: ConnectionOptions) -> tuple[Snapshot, KubeVersion]:
    from descheduler.explanation.sources import read_live

    now = datetime.now(UTC)
    return read_live(connection, policy, taken_at=now, skip_broken=flags.skip_broken_objects)
