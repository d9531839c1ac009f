"""`descheduler simulate`: what a policy does to a cluster in one cycle after the other, without one that changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import click
import msgspec

from descheduler.cli.completions import complete_file
from descheduler.cli.ending.exit_code import simulation_exit_code
from descheduler.cli.ending.leaving import stop_on_signals
from descheduler.cli.flag_groups import GoFlagsCommand
from descheduler.cli.flags.connection import takes_connection
from descheduler.cli.flags.lease import takes_lease_name
from descheduler.cli.flags.logging import takes_logging
from descheduler.cli.flags.running import takes_policy
from descheduler.cli.flags.scope import takes_scope, takes_shard
from descheduler.cli.flags.values import read_duration, read_input_name
from descheduler.cli.inputs import dump_paths, log_snapshot, read_policy, takes_snapshot
from descheduler.cli.output import Output, takes_output, write_document
from descheduler.model.text.duration import format_duration
from descheduler.supervision import Watch

if TYPE_CHECKING:
    from descheduler.cluster.snapshot import Snapshot
    from descheduler.cycle.options import ConnectionOptions
    from descheduler.eviction.checks.scope import Scope
    from descheduler.migration.lease_settings import LeaseOptions
    from descheduler.model.shard import Shard
    from descheduler.plan.run_memory import RunMemory
    from descheduler.policy.types import Policy
    from descheduler.report.simulation_document import Simulation
    from descheduler.simulation.simulating import Start

_STANDARD_INPUT = "-"


class _Flags(msgspec.Struct, frozen=True, kw_only=True):
    policy_file: str
    other_policy_file: str | None
    num_cycles: int
    every: timedelta
    snapshot: tuple[str, ...]
    now: datetime | None
    skip_broken_objects: bool
    scope: Scope
    shard: Shard
    output: Output
    connection: ConnectionOptions
    lease: LeaseOptions


@click.command(cls=GoFlagsCommand, short_help="Show what a policy does in one cycle after the other.")
@takes_policy
@click.option(
    "--compare",
    "other_policy_file",
    callback=read_input_name,
    metavar="FILE",
    shell_complete=complete_file,
    help="Another policy to simulate on the same dump, to show in what they differ.",
)
@click.option(
    "--cycles",
    "num_cycles",
    type=click.IntRange(min=1, max=100),
    default=10,
    show_default=True,
    metavar="N",
    help="Simulate at most this many cycles.",
)
@click.option(
    "--every",
    default="5m",
    show_default=True,
    callback=read_duration,
    metavar="DURATION",
    help="Time from one cycle to the next, for example the schedule of the CronJob.",
)
@takes_snapshot(
    "Start from a dump instead of a cluster: a file, a folder or - for standard input, as written by kubectl get -o "
    "json or 'descheduler snapshot'; can be repeated."
)
@takes_output("the simulation", has_pictures=True)
@takes_connection
@takes_scope
@takes_shard
@takes_lease_name
@takes_logging
@click.pass_context
def simulate(
    ctx: click.Context,
    /,
    connection: Callable[[], ConnectionOptions],
    lease: Callable[[], LeaseOptions],
    shard: Shard,
    **flags: object,
) -> None:
    """Show what a policy does in one cycle after the other: whether it converges, and after how many evictions.

    Nothing is evicted. The plan of each cycle is carried out on a copy of the dump: evicted pods are gone, controllers
    create their replacements, the scheduler binds them and the pending pods that fit, and the next cycle decides on the
    result. It ends when nothing is evicted any more, when a cycle repeats an earlier one, or after --cycles.

    Between cycles nothing else changes: no pod finishes, fails or is scaled, and no node comes or goes. With --shards
    one shard is simulated: the others evict nothing, and every cycle has the same --shard-turn.

    Exit codes: 0 simulated, 1 failed, or a plugin failed in some cycle, 2 wrong usage, an invalid policy, or a dump
    that cannot be read.
    """
    of_shard = msgspec.structs.replace(lease(), shard=shard)
    options = _Flags(connection=connection(), lease=of_shard, shard=shard, **flags)  # type: ignore[arg-type]  # click has checked
    if options.other_policy_file is not None and (not options.snapshot or _STANDARD_INPUT in options.snapshot):
        text = "--compare needs a dump in a file (--snapshot); 'descheduler snapshot -o out.jsonl.gz' makes one"
        raise click.UsageError(text, ctx)
    simulation = _supervised(options, ctx.ensure_object(Watch))
    write_document(simulation, options.output)
    ctx.exit(simulation_exit_code(simulation))


def _supervised(flags: _Flags, watch: Watch) -> Simulation:
    """The simulation; of a cluster, until a signal ends it. With a dump a signal ends the program at once."""
    if flags.snapshot:
        return watch.call("reading the dump and simulating", partial(_simulation, flags, watch))
    with stop_on_signals(watch):
        return watch.call("reading the cluster and simulating", partial(_simulation, flags, watch))


def _simulation(flags: _Flags, watch: Watch) -> Simulation:
    from descheduler.cli.running import watched_search
    from descheduler.simulation.simulating import SimulationOptions
    from descheduler.simulation.simulating import simulate as make_simulation

    starts = list(_starts(flags))
    now = flags.now or starts[0].snapshot.taken_at or datetime.now(UTC)
    _require_calendar(now, flags)
    search = watched_search(watch, is_dry=False)
    options = SimulationOptions(flags.num_cycles, flags.every, flags.scope, search)
    return make_simulation(starts, now=now, options=options)


def _require_calendar(now: datetime, flags: _Flags) -> None:
    """Refuses a simulation whose last cycle would come after the last year that there is."""
    try:
        now + flags.every * flags.num_cycles
    except OverflowError:
        text = (
            f"{format_duration(flags.every)} is too long: {flags.num_cycles:,} cycles from {now:%Y-%m-%d} on would end "
            "after the year 9999; choose a shorter --every, fewer --cycles or an earlier --now."
        )
        raise click.BadParameter(text, param_hint="--every") from None


def _starts(flags: _Flags) -> Iterator[Start]:
    """Each policy, with the cluster as it is read for it."""
    from descheduler.simulation.simulating import Start

    for file in filter(None, (flags.policy_file, flags.other_policy_file)):
        policy = read_policy(file)
        snapshot, memory = _cluster(flags, policy)
        snapshot = replace(snapshot, shard=flags.shard)
        log_snapshot(snapshot)
        yield Start(policy, snapshot, memory)


def _cluster(flags: _Flags, policy: Policy) -> tuple[Snapshot, RunMemory]:
    """A cluster as a run of `policy` finds it, with what earlier runs have left; with a dump there were none."""
    from descheduler.explanation.sources import read_dumps, read_live
    from descheduler.plan.run_memory import RunMemory

    if flags.snapshot:
        dump = read_dumps(dump_paths(flags.snapshot), policy, skip_broken=flags.skip_broken_objects)
        return dump, RunMemory()
    at, skip_broken = datetime.now(UTC), flags.skip_broken_objects
    live = read_live(flags.connection, policy, flags.lease, taken_at=at, skip_broken=skip_broken)
    # What a run cannot keep is kept from one simulated cycle to the next.
    return live.snapshot, RunMemory(live.memory.notes)
