"""Runs the same cycle again and again in one process, as a CronJob starts one Job after another."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from descheduler.cli.ending.exit_code import CommandError, ExitCode, stopped_exit_code
from descheduler.cli.ending.explaining import explain_error, run_exit_code
from descheduler.cli.ending.leaving import stop_on_signals
from descheduler.cli.flags.lazy_options import LazyOptions
from descheduler.cli.inputs import load_policy_file
from descheduler.cli.running import RunFlags, run_policy
from descheduler.cycle.guards import NOTHING_EVICTED
from descheduler.cycle.live.leading import Leader, leadership
from descheduler.eviction.migration_controller.profiles import is_dry
from descheduler.supervision import RunStopped, Watch
from descheduler.telemetry.logging import fields, log_event
from descheduler.telemetry.metrics.serving import ListenAddress, RunsSoFar, Served, served
from descheduler.telemetry.run_record import RunRecord

if TYPE_CHECKING:
    from descheduler.policy.types import Policy
    from descheduler.telemetry.recording import TelemetrySettings

_logger = logging.getLogger(__name__)
_METRICS = "text/plain; version=0.0.4; charset=utf-8"
_LATE_SECONDS = 60.0
"""How long after its deadline a cycle may take before the process counts as ill."""


class LoopFlags(msgspec.Struct, frozen=True):
    """What the flags say. The next cycle begins `interval` after the last one began, or at once where that took longer.

    Metrics are served at `listen`, None for nowhere.
    """

    interval: timedelta
    listen: ListenAddress | None


def run_loop(loop: LoopFlags, flags: RunFlags, lazy: LazyOptions, watch: Watch) -> int:
    """Runs cycle after cycle until a signal comes, and returns the exit code.

    Raises PolicyError for a policy that is invalid at the start, and CommandError where it cannot listen. A cycle that
    fails is told in the log and in the metrics, and the next one begins at its time.
    """
    assert flags.policy_file is not None  # noqa: S101 - it is required
    policy = load_policy_file(flags.policy_file)
    cycles = _Cycles(loop, flags, lazy)
    with ExitStack() as at_end:
        at_end.enter_context(stop_on_signals(watch))
        if loop.listen is not None:
            at_end.enter_context(_listening(loop.listen, cycles))
        try:
            leader = at_end.enter_context(_leading(policy, flags, lazy, watch))
        except RunStopped:
            return ExitCode.DONE
        return cycles.run(leader, watch)


@contextmanager
def _listening(address: ListenAddress, cycles: _Cycles) -> Iterator[None]:
    """Raises CommandError."""
    endpoints = {"/metrics": lambda: Served(cycles.runs.text, _METRICS), "/healthz": cycles.find_health}
    with ExitStack() as at_end:
        try:
            where = at_end.enter_context(served(address, endpoints))
        except (OSError, OverflowError) as error:
            why = (getattr(error, "strerror", None) or str(error)).lower()
            text = f"cannot listen on {address.host}:{address.port}: {why}; choose another with --listen"
            raise CommandError(text, ExitCode.FAILED) from error
        log_event(_logger, "Serving /metrics and /healthz", address=where)
        yield


@contextmanager
def _leading(policy: Policy, flags: RunFlags, lazy: LazyOptions, watch: Watch) -> Iterator[Leader]:
    """Leads, where runs evict. Raises RunStopped when a signal comes first."""
    if flags.dry_run or is_dry(policy):
        yield Leader()
        return
    of_shard = msgspec.structs.replace(lazy.lease(), shard=flags.shard)
    with leadership(policy, lazy.connection(), of_shard, watch) as leader:
        yield leader


class _Cycles:
    """One cycle after the other, and what is known of them. `runs` and `find_health` are safe from any thread."""

    def __init__(self, loop: LoopFlags, flags: RunFlags, lazy: LazyOptions) -> None:
        self.runs = RunsSoFar()
        self._loop = loop
        self._flags = flags
        self._lazy = lazy
        self._late_at: float | None = None
        self._is_recorded = False

    def run(self, leader: Leader, watch: Watch) -> int:
        """Runs until the time of `watch` is over, a signal stops a cycle, or `leader` is lost; the exit code."""
        while not watch.is_over:
            began = watch.clock()
            cycle = Watch(promise=NOTHING_EVICTED)
            leader.stop_at_loss(cycle.stop)
            cycle.find_loss = partial(getattr, leader, "loss")
            code = self._run_one(cycle)
            leader.stop_at_loss(watch.stop)
            watch.has_given_up |= cycle.has_given_up
            if cycle.signal_number is not None:
                return stopped_exit_code(cycle.signal_number)
            if cycle.is_search_over:  # by a signal, for which a dry run shows the best plan so far
                return ExitCode.DONE
            if leader.loss:
                break
            if watch.has_given_up:
                # What hangs would hang for ever: whoever started this process starts another one.
                _logger.error("Ending: work of the last cycle was given up and may still go on", extra=fields())
                return ExitCode.STOPPED
            gc.collect()
            left_seconds = max(0.0, self._loop.interval.total_seconds() - (watch.clock() - began))
            log_event(_logger, "Cycle ended", exitCode=code, nextInSeconds=round(left_seconds))
            watch.sleep(left_seconds)
        if leader.loss:
            _logger.error("Ending: no longer leading", extra=fields(reason=leader.loss))
            return ExitCode.STOPPED
        return ExitCode.DONE

    def find_health(self) -> Served:
        """Whether the process is alive: a cycle may take its time, unless it has a deadline."""
        late_at = self._late_at
        if late_at is not None and time.monotonic() > late_at:
            return Served(b"the cycle is past its deadline\n", status_code=503)
        return Served(b"ok\n")

    def _run_one(self, cycle: Watch) -> int:
        """One run as `descheduler run` makes it; its exit code."""
        deadline = self._flags.deadline_seconds
        cycle.limit(deadline)
        self._late_at = None if deadline is None else time.monotonic() + deadline + _LATE_SECONDS
        self._is_recorded = False
        try:
            with stop_on_signals(cycle):
                return run_policy(self._flags, self._lazy._replace(telemetry=self._recording), cycle)
        except Exception as error:
            code = explain_error(error, cycle)
            if not self._is_recorded and run_exit_code(error, cycle) is not None:
                self._keep(RunRecord(exit_code=code, ended_at=time.time(), shard=self._flags.shard))
            return code
        finally:
            self._late_at = None

    def _recording(self, policy: Policy | None) -> TelemetrySettings:
        return msgspec.structs.replace(self._lazy.telemetry(policy), keep=self._keep)

    def _keep(self, record: RunRecord) -> None:
        self._is_recorded = True
        self.runs.add(record)
