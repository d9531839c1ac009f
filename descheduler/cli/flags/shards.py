"""Flags that give a run one part of a cluster, while other runs have the others."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from descheduler.cli.flag_groups import FlagGroup, flag
from descheduler.model.shard import WHOLE_CLUSTER, Shard

__all__ = ["takes_shard"]


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
