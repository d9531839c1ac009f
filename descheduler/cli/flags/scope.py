"""Flags that limit a run to some pods, spelt as kubectl spells them, or to one part of the cluster.

Other runs have the other parts then.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from descheduler.cli.completions import complete_namespace
from descheduler.cli.flag_groups import FlagGroup, flag
from descheduler.model.shard import WHOLE_CLUSTER, Shard

if TYPE_CHECKING:
    from descheduler.eviction.checks.scope import Scope

_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)


def takes_scope(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the flags and hands what they say to the command as `scope`."""

    @flag(
        FlagGroup.PODS,
        "-n",
        "--namespace",
        "namespaces",
        multiple=True,
        metavar="NAME",
        shell_complete=complete_namespace,
        help="Evict only pods in this namespace; can be repeated. Plugins still count the other pods.",
    )
    @flag(FlagGroup.PODS, "-A", "--all-namespaces", is_flag=True, help="Evict pods in all namespaces; the default.")
    @flag(
        FlagGroup.PODS,
        "-l",
        "--selector",
        "labels",
        metavar="SELECTOR",
        help="Evict only pods with these labels, for example app=web,tier!=db. Plugins still count the other pods.",
    )
    @wraps(command)
    def with_scope(
        *args: object, namespaces: tuple[str, ...], all_namespaces: bool, labels: str | None, **flags: object
    ) -> object:
        _check_namespaces("-n", namespaces, all_namespaces=all_namespaces)
        return command(*args, scope=_make_scope(namespaces, labels), **flags)

    return with_scope


def takes_subject_namespace(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds -n and -A as they say where a thing is, and hands them to the command as `namespace` and `all_namespaces`.

    What limits the run goes to it as `scope`: `--run-namespace` stands for the -n of a run.
    """

    @flag(
        FlagGroup.PODS,
        "-n",
        "--namespace",
        metavar="NAME",
        shell_complete=complete_namespace,
        help="Namespace of the pod or workload; by default that of the kubeconfig's context, with --snapshot "
        "'default'.",
    )
    @flag(FlagGroup.PODS, "-A", "--all-namespaces", is_flag=True, help="Look for the name in every namespace.")
    @flag(
        FlagGroup.PODS,
        "--run-namespace",
        "run_namespaces",
        multiple=True,
        metavar="NAME",
        help="As -n of 'descheduler run': explain a run that evicts only pods of this namespace; can be repeated.",
    )
    @flag(
        FlagGroup.PODS,
        "-l",
        "--selector",
        "labels",
        metavar="SELECTOR",
        help="As -l of 'descheduler run': explain a run that evicts only pods with these labels.",
    )
    @wraps(command)
    def with_namespace(
        *args: object,
        namespace: str | None,
        all_namespaces: bool,
        run_namespaces: tuple[str, ...],
        labels: str | None,
        **flags: object,
    ) -> object:
        _check_namespaces("-n", () if namespace is None else (namespace,), all_namespaces=all_namespaces)
        _check_namespaces("--run-namespace", run_namespaces)
        scope = _make_scope(run_namespaces, labels)
        return command(*args, namespace=namespace, all_namespaces=all_namespaces, scope=scope, **flags)

    return with_namespace


def _check_namespaces(flag: str, namespaces: tuple[str, ...], *, all_namespaces: bool = False) -> None:
    if namespaces and all_namespaces:
        raise _usage_error(f"{flag} and -A cannot be used together")
    # An empty variable in a script must not turn a run for one team into one for all.
    if "" in namespaces:
        raise _usage_error(f"{flag} is empty; use -A for all namespaces")
    if odd := next((name for name in namespaces if not _NAMESPACE.fullmatch(name)), None):
        raise _usage_error(
            f"{flag}: {odd!r} is not a namespace name: only lowercase letters, digits and '-' are allowed"
        )


def _make_scope(namespaces: tuple[str, ...], labels: str | None) -> Scope:
    if labels is not None and not labels.strip():
        raise _usage_error("-l is empty; omit it to select pods with any labels")
    labels = labels or ""
    from descheduler.eviction.checks.scope import Scope
    from descheduler.model.selection.labels import LabelError, parse_selector

    try:
        return Scope(frozenset(namespaces), parse_selector(labels), labels.strip())
    except LabelError as error:
        raise _usage_error(f"-l: {error}") from error


def _usage_error(message: str) -> click.UsageError:
    return click.UsageError(message, click.get_current_context())


def takes_shard(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the flags and hands what they say to the command as `shard`."""

    @flag(
        FlagGroup.SHARDS,
        "--shards",
        "count",
        type=click.IntRange(1, 1000),
        default=1,
        metavar="N",
        help="Divide the nodes of the cluster among N runs at once, for example the pods of an Indexed Job. This run "
        "evicts only from its own nodes, and has its own share of each limit.",
    )
    @flag(
        FlagGroup.SHARDS,
        "--shard-index",
        "index",
        type=click.IntRange(min=0),
        envvar="JOB_COMPLETION_INDEX",
        show_envvar=True,
        metavar="N",
        help="With --shards, which of them this run is, from 0 on.",
    )
    @flag(
        FlagGroup.SHARDS,
        "--shard-by",
        "label",
        metavar="LABEL",
        help="With --shards, nodes with the same value of this label are in one shard; by default nodes of one pool "
        "are (Karpenter, GKE, EKS, AKS, else the instance type), and without a pool each node is for itself.",
    )
    @flag(
        FlagGroup.SHARDS,
        "--shard-turn",
        "turn",
        envvar="DESCHEDULER_SHARD_TURN",
        show_envvar=True,
        metavar="TEXT",
        help="With --shards, a text that all shards of one round share, for example the name of their Job. Another "
        "text gives the rest of a limit that cannot be divided evenly to other shards.",
    )
    @wraps(command)
    def with_shard(
        *args: object, count: int, index: int | None, label: str | None, turn: str | None, **flags: object
    ) -> object:
        return command(*args, shard=_make_shard(count, index, label, turn), **flags)

    return with_shard


def _make_shard(count: int, index: int | None, label: str | None, turn: str | None) -> Shard:
    """Raises click.UsageError for flags that do not go together."""
    ctx = click.get_current_context()
    if count == 1:
        # The variables may be set for other reasons: every pod of an Indexed Job has the first one.
        if label or _is_typed(ctx, "index") or _is_typed(ctx, "turn"):
            raise click.UsageError("--shard-index, --shard-by and --shard-turn need --shards.", ctx)
        return WHOLE_CLUSTER
    if index is None:
        raise click.UsageError("--shards needs --shard-index, or JOB_COMPLETION_INDEX in the environment.", ctx)
    if index >= count:
        raise click.UsageError(f"--shard-index {index} is not below --shards {count}; indexes begin at 0.", ctx)
    return Shard(index, count, label or "", turn or "")


def _is_typed(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
