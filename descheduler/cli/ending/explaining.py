"""An error that ends a run or a command, in one message on standard error, and its exit code.

Errors that are expected are looked up among the modules that are loaded already: only those can have raised anything,
and looking must not load the rest.
"""

from __future__ import annotations

import logging
import sys

import click

from descheduler.cli.ending.exit_code import CommandError, ExitCode, stopped_exit_code
from descheduler.model.text.printable import printable
from descheduler.supervision import RunStopped, Watch
from descheduler.telemetry.console import PatientStream
from descheduler.telemetry.faults import error_words, place_of, traceback_lines
from descheduler.telemetry.logging import is_json

TRACEBACK_VERBOSITY = 6
"""From this verbosity on an unexpected error is shown with its traceback."""
_logger = logging.getLogger(__name__)
_PROGRAM = "descheduler"
_LABEL = "error: "


def explain_error(error: Exception, watch: Watch) -> int:
    """One message for a known error; anything else is a defect of this program and says so, and where.

    Returns the exit code, which after evictions is never 1: a Job would evict again then.
    """
    code = _say(error)
    if not watch.has_effects:
        return code
    return fail("pods were evicted before this error; see the log and the Events of the pods", ExitCode.STOPPED)


def fail(message: str, code: ExitCode, *, label: str = _LABEL) -> int:
    """Says why the program ends with `code`, which is returned."""
    _tell(label, message, is_error=code is not ExitCode.DONE)
    return code


def tell_fault(where: str, error: BaseException) -> None:
    """Says that an unexpected error has ended what `where` names, and nothing else."""
    _tell(_LABEL, f"internal error in {where}: {_shown(error)}")


def _say(error: Exception) -> int:
    known = known_error(error)
    if known is not None:
        message, code = known
        is_labelled = code is not ExitCode.DONE and not _is_policy_error(error)
        return fail(message, code, label=_LABEL if is_labelled else "")
    if logging.getLogger(_PROGRAM).isEnabledFor(logging.INFO - TRACEBACK_VERBOSITY):
        _tell("", "\n".join(traceback_lines(error)))
    hint = f"please report it, with the output of the same command with -v {TRACEBACK_VERBOSITY}"
    return fail(f"internal error: {_shown(error)}; {hint}", ExitCode.FAILED)


def _shown(error: BaseException) -> str:
    """Type and place of an error, without its text, which may hold anything."""
    place = place_of(error)
    return f"{type(error).__name__} in {place}" if place else type(error).__name__


def _tell(label: str, message: str, *, is_error: bool = True) -> None:
    """A message on standard error: plain, or as an event of a log in JSON."""
    text = f"{label}{_printable_lines(message)}"
    if sys.stderr is None:
        return
    if is_json():
        _logger.log(logging.ERROR if is_error else logging.INFO, "%s", text)
    else:
        PatientStream(sys.stderr).write(f"{text}\n")


def _printable_lines(message: str) -> str:
    """The lines of a message without what would steer a terminal, such as in the name of a file."""
    return "\n".join(map(printable, message.split("\n")))


def _is_policy_error(error: BaseException) -> bool:
    """Whether it is about the policy; its text then has a line for each problem, with the place in front."""
    return isinstance(error, _class_of("descheduler.documents.problems", "PolicyError"))


def known_error(error: BaseException) -> tuple[str, ExitCode] | None:
    """The message and the exit code; None for an unexpected error."""
    if isinstance(error, CommandError):
        return str(error), error.code
    if isinstance(error, RunStopped):
        return str(error), stopped_exit_code(error.signal_number)
    if _is_policy_error(error):
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
