"""How a command ends: by an exit code, or by an error."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from descheduler.plan.outcome import OutcomeCode
    from descheduler.report.outcome.document import EvictionResult, OutcomeDocument
    from descheduler.report.plan.document import Plan
    from descheduler.report.simulation_document import Simulation


class ExitCode(IntEnum):
    """Exit codes; scripts and Jobs rely on them."""

    DONE = 0
    """Finished, or nothing to do; single evictions can have failed, see --detailed-exitcode."""
    FAILED = 1
    """Failed, and certainly nothing was evicted: repeating the run is safe."""
    INVALID = 2
    """Wrong usage, an invalid policy or a dump that cannot be read."""
    INCOMPLETE = 3
    """Finished, with evictions refused, failed or unknown, or moves left out (--allow-partial); only with
    --detailed-exitcode. For a dry run: nothing is planned, and the pods that plugins selected are not evicted."""
    STOPPED = 4
    """Stopped before everything was done: by the deadline, the loss of the Lease, a guard of MigrationController or an
    overloaded API server."""
    PLANNED = 5
    """Dry run finished, and evictions are planned; only with --detailed-exitcode."""
    INTERRUPTED = 130
    """Interrupted (Ctrl-C, SIGINT) before everything was done, as shells count it. In the search of a dry run the first
    signal ends the search alone: the best plan so far is shown, with 0."""
    TERMINATED = 143
    """Stopped by SIGTERM before everything was done, as shells count it. The same exception holds."""


def stopped_exit_code(signal_number: int | None) -> ExitCode:
    """The end of a run that was stopped by this signal, or by the deadline or the loss of its Lease (None)."""
    return ExitCode.STOPPED if signal_number is None else ExitCode(128 + signal_number)


def plan_exit_code(plan: Plan, *, is_detailed: bool) -> ExitCode:
    """The end of a dry run. With details, planned evictions count for more than refused ones."""
    if plan.failures:
        return ExitCode.FAILED
    if not is_detailed:
        return ExitCode.DONE
    if plan.moves:
        return ExitCode.PLANNED
    return ExitCode.INCOMPLETE if _has_refused_requests(plan) else ExitCode.DONE


def simulation_exit_code(simulation: Simulation) -> ExitCode:
    """The end of a simulation, whatever came of it."""
    return ExitCode.FAILED if any(policy.failures for policy in simulation.policies) else ExitCode.DONE


def outcome_exit_code(outcome: OutcomeDocument, *, is_detailed: bool, is_partial: bool = False) -> ExitCode:
    """The end of a run that evicted; `is_partial` when moves of a plan from a file were left out.

    A fault counts as failure only if certainly nothing was evicted: a Job is started again after a failure, and would
    evict once more up to all limits. One of a user's PodMigrationJob never does: no plugin has asked for it, and it may
    stand in the way of every run.
    """
    if any(_code_of(result).is_guard for result in outcome.results):
        return ExitCode.STOPPED
    faults = [result for result in outcome.results if _has_failed(result)]
    has_failed = bool(outcome.plan.failures) or any(not result.job for result in faults)
    if has_failed and not outcome.may_have_evicted:
        return ExitCode.FAILED
    is_incomplete = (
        has_failed
        or bool(faults)
        or is_partial
        or outcome.unconfirmed > 0
        or _has_refused_requests(outcome.plan)
        or any(map(_was_left_out, outcome.results))
    )
    return ExitCode.INCOMPLETE if is_detailed and is_incomplete else ExitCode.DONE


def _has_refused_requests(plan: Plan) -> bool:
    return any(count.num_attempts for count in plan.refusal_counts)


def _has_failed(result: EvictionResult) -> bool:
    return result.result == "failed" or result.code in {"forbidden", "server-error"}


def _was_left_out(result: EvictionResult) -> bool:
    return result.result == "refused" or (result.result == "not-attempted" and not _code_of(result).is_never_meant)


def _code_of(result: EvictionResult) -> OutcomeCode:
    from descheduler.plan.outcome import OutcomeCode  # not for commands that evict nothing

    return OutcomeCode(result.code)


class CommandError(Exception):
    """One sentence for the operator, and how the command ends."""

    def __init__(self, message: str, code: ExitCode) -> None:
        super().__init__(message)
        self.code = code
