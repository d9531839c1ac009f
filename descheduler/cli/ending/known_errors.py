"""Errors that are expected: what each says to the operator, and how it ends the program.

Classes are looked up among the modules that are loaded already: only those can have raised anything, and looking must
not load the rest.
"""

from __future__ import annotations

import sys

import click

from descheduler.cli.ending.errors import CommandError
from descheduler.cli.ending.exit_code import ExitCode, stopped_exit_code
from descheduler.supervision import RunStopped, Watch
from descheduler.telemetry.faults import error_words

__all__ = ["is_policy_error", "known_error", "run_exit_code"]


def is_policy_error(error: BaseException) -> bool:
    """Whether it is about the policy; its text then has a line for each problem, with the place in front."""
    return isinstance(error, _class_of("descheduler.documents.problems", "PolicyError"))


def known_error(error: BaseException) -> tuple[str, ExitCode] | None:
    """The message and the exit code; None for an unexpected error."""
    if isinstance(error, CommandError):
        return str(error), error.code
    if isinstance(error, RunStopped):
        return str(error), stopped_exit_code(error.signal_number)
    if is_policy_error(error):
        return str(error), ExitCode.INVALID
    if _is_lease_held(error):
        return str(error), ExitCode.DONE
    if isinstance(error, _class_of("descheduler.transport.errors", "ExchangeError")):
        return str(error), ExitCode.FAILED
    if isinstance(error, _class_of("descheduler.cluster.snapshot", "DumpError")):
        return str(error), ExitCode.INVALID
    if isinstance(error, _class_of("descheduler.cluster.snapshot", "SnapshotError")):
        return str(error), ExitCode.FAILED
    if isinstance(error, _class_of("descheduler.report.plan.reading", "PlanFileError")):
        return str(error), ExitCode.INVALID
    if isinstance(error, _class_of("descheduler.cycle.applying", "PlanRefusedError")):
        return str(error), ExitCode.FAILED
    if isinstance(error, _class_of("descheduler.policy.plugin_faults", "PluginFault")):
        return str(error), ExitCode.FAILED
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        # Libraries raise this class too, with texts of their own, which may hold a secret.
        return f"{place}input or output failed: {error_words(error)}", ExitCode.FAILED
    if isinstance(error, MemoryError):
        return "out of memory; raise the memory limit, or split the dump", ExitCode.FAILED
    return None


def run_exit_code(error: BaseException, watch: Watch) -> ExitCode | None:
    """How a run ends that is ended by `error`; None when there was none, because another one is under way.

    After evictions it is never one of those that promise that there were none.
    """
    if _is_lease_held(error):
        return None
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return ExitCode.INTERRUPTED
    if watch.has_effects:
        return ExitCode.STOPPED
    known = known_error(error)
    return ExitCode.FAILED if known is None else known[1]


def _is_lease_held(error: BaseException) -> bool:
    return isinstance(error, _class_of("descheduler.kube.leases.lease", "LeaseHeld"))


def _class_of(module: str, name: str) -> type[Exception] | tuple[()]:
    loaded = sys.modules.get(module)
    found: type[Exception] | tuple[()] = getattr(loaded, name) if loaded else ()
    return found
