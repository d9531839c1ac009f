"""`descheduler explain`: what a run decides about a pod, a workload, a node or a plugin, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click
import msgspec

from descheduler.cli.completions import complete_file
from descheduler.cli.ending.exit_code import CommandError, ExitCode
from descheduler.cli.ending.leaving import stop_on_signals
from descheduler.cli.flag_groups import GoFlagsCommand
from descheduler.cli.flags.assumed import takes_assumed
from descheduler.cli.flags.connection import takes_connection
from descheduler.cli.flags.lease import takes_lease_name
from descheduler.cli.flags.logging import takes_logging
from descheduler.cli.flags.running import takes_policy_file
from descheduler.cli.flags.scope import takes_shard, takes_subject_namespace
from descheduler.cli.flags.values import input_path, read_feature_gates, read_input_name, read_kube_version
from descheduler.cli.inputs import dump_paths, log_snapshot, read_policy, takes_snapshot
from descheduler.cli.output import Output, takes_output, write_document
from descheduler.cli.question import Question, complete_question, read_question
from descheduler.report.subjects import SUBJECTS, help_on, types_of
from descheduler.supervision import Watch

if TYPE_CHECKING:
    from descheduler.cluster.snapshot import Snapshot
    from descheduler.cycle.options import ConnectionOptions
    from descheduler.eviction.checks.scope import Scope
    from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
    from descheduler.explanation.explaining import Explanation
    from descheduler.explanation.sources import LiveCluster
    from descheduler.migration.lease_settings import LeaseOptions
    from descheduler.model.kube_version import KubeVersion
    from descheduler.model.shard import Shard
    from descheduler.policy.types import Policy


class _Flags(msgspec.Struct, frozen=True, kw_only=True):
    question: tuple[str, ...]
    namespace: str | None
    all_namespaces: bool
    scope: Scope
    shard: Shard
    feature_gates: Mapping[str, bool]
    policy_file: str | None
    plan_file: str | None
    snapshot: tuple[str, ...]
    lease: LeaseOptions
    now: datetime | None
    scheduler_config: str | None
    kube_version: KubeVersion | None
    skip_broken_objects: bool
    assumed: Sequence[Mapping[str, object]]
    output: Output


_HELP = "\n\n".join(
    [
        "Explain what a run decides about a pod, workload, node or plugin, and why. Nothing is evicted or written.",
        *help_on(SUBJECTS),
        "On a cluster, what earlier runs have left beside their Lease counts as in a run, for example cooldowns. Give "
        "--lease-name and --lease-namespace if the runs have them.",
        "With --plan, show what a plan does with a pod, workload, namespace, node, PodDisruptionBudget or plugin, and "
        "decide nothing again.",
        "Exit codes: 0 explained, 1 failed, 2 wrong usage, an invalid policy, or a name that does not exist.",
    ]
)


@click.command(
    cls=GoFlagsCommand,
    short_help="Explain what a run decides about a pod, workload, node or plugin, and why.",
    help=_HELP,
)
@click.argument(
    "question", nargs=-1, required=True, metavar="TYPE NAME | TYPE/NAME | budgets", shell_complete=complete_question
)
@takes_policy_file(
    "Policy whose decisions are explained, - for standard input; without it, only where replacement pods would be "
    "scheduled."
)
@click.option(
    "--plan",
    "plan_file",
    callback=read_input_name,
    metavar="FILE",
    shell_complete=complete_file,
    help="Plan file, or JSON of a dry run, - for standard input: show what that plan does with the subject. It takes "
    "the place of a policy, a dump and a cluster; nothing is decided again.",
)
@takes_snapshot("Read a dump instead of a cluster: a file, a folder or - for standard input; can be repeated.")
@takes_assumed
@takes_subject_namespace
@takes_shard
@click.option(
    "--feature-gates",
    multiple=True,
    callback=read_feature_gates,
    metavar="NAME=BOOL,...",
    help="As --feature-gates of 'descheduler run'.",
)
@click.option(
    "--scheduler-config",
    metavar="FILE",
    shell_complete=complete_file,
    help="KubeSchedulerConfiguration by which replacement pods are scheduled; by default the schedulerConfigFile of "
    "PlacementVerification in the policy, else kube-scheduler's defaults. It changes no decision.",
)
@click.option(
    "--kube-version",
    callback=read_kube_version,
    metavar="VERSION",
    help="Version of the scheduler, for example 1.34; by default the kubeVersion of PlacementVerification in the "
    "policy, else that of the cluster, else the newest known. It changes no decision.",
)
@takes_lease_name
@takes_output("the explanation")
@takes_connection
@takes_logging
@click.pass_context
def explain(
    ctx: click.Context,
    /,
    connection: Callable[[], ConnectionOptions],
    lease: Callable[[], LeaseOptions],
    shard: Shard,
    **flags: object,
) -> None:
    """Explains one thing, or all of a type."""
    from descheduler.explanation.finding import UnknownSubjectError

    of_shard = msgspec.structs.replace(lease(), shard=shard)
    options = _Flags(lease=of_shard, shard=shard, **flags)  # type: ignore[arg-type]  # click has checked every one
    if options.plan_file is not None:
        _answer_from(options.plan_file, options, ctx)
    policy = None if options.policy_file is None else read_policy(options.policy_file)
    connected = connection()
    question = read_question(
        options.question,
        options.namespace,
        all_namespaces=options.all_namespaces,
        default=partial(_default_namespace, options, policy, connected),
    )
    try:
        explanation = _supervised(question, options, policy, connected, ctx.ensure_object(Watch))
    except UnknownSubjectError as error:
        raise CommandError(str(error), ExitCode.INVALID) from error
    write_document(explanation, options.output)
    ctx.exit(ExitCode.DONE)


def _answer_from(plan_file: str, flags: _Flags, ctx: click.Context) -> NoReturn:
    """Shows what the plan in the file says of the subject."""
    from descheduler.report.plan.reading import read_plan
    from descheduler.report.plan_answer import ANSWERED, answer_of

    if flags.policy_file is not None or flags.snapshot:
        text = "--plan takes policy and cluster from the plan; leave out --policy-config-file and --snapshot."
        raise click.UsageError(text, ctx)
    question = read_question(flags.question, flags.namespace, all_namespaces=flags.all_namespaces)
    if question.type_name not in ANSWERED:
        raise click.UsageError(f"plans say nothing about a {question.type_name}; types are {', '.join(ANSWERED)}", ctx)
    plan = ctx.ensure_object(Watch).call("reading the plan", partial(read_plan, input_path(plan_file)))
    write_document(answer_of(plan, *question), flags.output)
    ctx.exit(ExitCode.DONE)


def _default_namespace(flags: _Flags, policy: Policy | None, connection: ConnectionOptions) -> str:
    """The namespace of the kubeconfig's context; none where a dump is read."""
    from descheduler.explanation.sources import context_namespace

    return "" if flags.snapshot else context_namespace(connection, policy)


def _supervised(
    question: Question, flags: _Flags, policy: Policy | None, connection: ConnectionOptions, watch: Watch
) -> Explanation:
    """The explanation; of a cluster, until a signal ends it. With a dump a signal ends the program at once."""
    explain_now = partial(_explanation, question, flags, policy, connection, watch)
    if flags.snapshot:
        return watch.call("reading the dump and explaining", explain_now)
    with stop_on_signals(watch):
        return watch.call("reading the cluster and explaining", explain_now)


def _explanation(
    question: Question, flags: _Flags, policy: Policy | None, connection: ConnectionOptions, watch: Watch
) -> Explanation:
    from descheduler.cli.running import watched_search
    from descheduler.cycle.deciding.round import RunSetting
    from descheduler.explanation.explaining import explain as make_explanation
    from descheduler.plan.run_memory import NO_MEMORY

    snapshot, memory = None, NO_MEMORY
    if flags.snapshot:
        snapshot = _dump(flags, policy)
    elif connection.kubeconfig or connection.context or types_of(SUBJECTS)[question.type_name][1].needs_cluster:
        cluster = _cluster(flags, policy, connection)
        snapshot, memory = cluster.snapshot, cluster.memory
    if snapshot is not None:
        snapshot = replace(snapshot, shard=flags.shard)
        log_snapshot(snapshot)
    search = watched_search(watch, is_dry=False)
    within = search.within(f"Explaining {' '.join(question)}".rstrip())
    try:
        return make_explanation(
            *question,
            snapshot,
            policy=policy,
            settings=_settings(flags, policy, None if snapshot is None else snapshot.kube_version),
            now=flags.now or (snapshot and snapshot.taken_at) or datetime.now(UTC),
            setting=RunSetting(flags.feature_gates, scope=flags.scope, memory=memory, search=within),
        )
    finally:
        search.note(None)


def _settings(flags: _Flags, policy: Policy | None, cluster_version: KubeVersion | None) -> SchedulingSettings:
    from descheduler.explanation.explaining import settings_for

    file = Path(flags.scheduler_config) if flags.scheduler_config else None
    return settings_for(policy, configuration_file=file, version=flags.kube_version, cluster_version=cluster_version)


def _dump(flags: _Flags, policy: Policy | None) -> Snapshot:
    from descheduler.explanation.sources import read_dumps

    return read_dumps(dump_paths(flags.snapshot), policy, skip_broken=flags.skip_broken_objects, assumed=flags.assumed)


def _cluster(flags: _Flags, policy: Policy | None, connection: ConnectionOptions) -> LiveCluster:
    from descheduler.explanation.sources import read_live

    now = datetime.now(UTC)
    skip_broken, assumed = flags.skip_broken_objects, flags.assumed
    return read_live(connection, policy, flags.lease, taken_at=now, skip_broken=skip_broken, assumed=assumed)
