"""What `run` and `explain` read: the flags that say so, and the lines of the log about it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from descheduler.cli.completions import complete_file
from descheduler.cli.flag_groups import FlagGroup, flag, with_flags
from descheduler.cli.flags.values import file_source, input_path, read_input_names, read_instant
from descheduler.cli.output import keep_output
from descheduler.telemetry.logging import log_event

if TYPE_CHECKING:
    from descheduler.cluster.snapshot import Snapshot
    from descheduler.policy.types import Policy

_logger = logging.getLogger(__name__)


skips_broken_objects = flag(
    FlagGroup.DUMP,
    "--skip-broken-objects/--fail-on-broken-objects",
    default=False,
    help="Skip invalid objects instead of failing on the first.",
)


def takes_snapshot(
    snapshot_help: str, *, can_evict: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds `--snapshot`, `--now` and `--skip-broken-objects`; `snapshot_help` is the help of the first."""
    now_help = "Time that ages are computed at; by default the time of the dump, else now."
    if can_evict:
        now_help += " A run that evicts warns of a time that is not now."

    return with_flags(
        flag(
            FlagGroup.DUMP,
            "--snapshot",
            multiple=True,
            callback=read_input_names,
            metavar="DUMP",
            shell_complete=complete_file,
            help=snapshot_help,
        ),
        flag(
            FlagGroup.DUMP,
            "--now",
            callback=read_instant,
            metavar="RFC3339",
            help=now_help,
        ),
        skips_broken_objects,
    )


def dump_paths(names: tuple[str, ...]) -> list[Path | Literal["-"]]:
    """The dumps that were named."""
    return list(map(input_path, names))


def read_policy(file: str) -> Policy:
    """The policy in `file`, which the log names. Raises PolicyError."""
    policy = load_policy_file(file)
    log_policy(policy)
    return policy


def load_policy_file(file: str) -> Policy:
    """The policy in `file`, whose plugins print to the log from here on; - is standard input. Raises PolicyError."""
    return load_policy_source(*file_source(file))


def load_policy_source(source: Path | str, name: str | None) -> Policy:
    """The policy in a file or a text of this name, whose plugins print to the log from here on. Raises PolicyError."""
    from descheduler.cycle.plugins import REGISTRY
    from descheduler.policy.load import load_policy

    keep_output()
    return load_policy(source, REGISTRY, name=name)


def log_policy(policy: Policy) -> None:
    """Says which policy it is."""
    log_event(_logger, "Policy loaded", file=policy.path, kind=policy.kind, digest=policy.digest)


def log_snapshot(snapshot: Snapshot) -> None:
    """Says what was read."""
    log_event(_logger, "Snapshot read", source=snapshot.source, nodes=len(snapshot.nodes), pods=len(snapshot.pods))
