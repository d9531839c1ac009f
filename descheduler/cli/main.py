"""Runs a command and turns whatever goes wrong into one message and an exit code."""

from __future__ import annotations

import gc
import io
import os
import sys
import threading
import time
from collections.abc import Sequence

import click

from descheduler.cli.commands import commands
from descheduler.cli.ending.exit_code import CommandError, ExitCode
from descheduler.cli.ending.explaining import explain_error, fail, tell_fault
from descheduler.cli.ending.leaving import handle_signals, leave
from descheduler.supervision import Watch

_YOUNG_OBJECTS = 250_000
"""New objects, of some 100 bytes, before cycles are looked for among them."""
_ROUNDS = 50
"""Looks at objects of one age before those of the next are looked at."""
_PROGRAM = "descheduler"
_ALGEBRA_THREADS = "OPENBLAS_NUM_THREADS"
"""How many threads numpy starts as it is loaded, by default one for each core; nothing here is divided among them."""
_STARTED = time.monotonic()
"""When the program began, as near as it can tell. The start that the system keeps of a process would count what a shell
did before it became this program."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command that `arguments` name, by default those of the process, and returns the exit code.

    With the arguments of the process it is the whole program, which handles signals until its process is gone, and
    ends here and now if work was given up that still runs.
    """
    if arguments is not None:
        return _run(arguments, Watch())
    watch = Watch(started=_STARTED)
    handle_signals(watch)
    collect_rarely()
    os.environ.setdefault(_ALGEBRA_THREADS, "1")
    code = watch.exit_code = _run(sys.argv[1:], watch)
    if watch.has_given_up or watch.is_over:
        leave(code)
    _drop_what_nobody_reads()
    collect_no_more()
    return code


def _drop_what_nobody_reads() -> None:
    """Python flushes both streams at its end, and would end with code 120 where a reader has gone away."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        except AttributeError:  # closed before the start
            continue


def _run(arguments: Sequence[str], watch: Watch) -> int:
    _escape_what_cannot_be_encoded()
    threading.excepthook = _explain_thread
    try:
        code = commands.main(args=list(arguments), prog_name=_PROGRAM, standalone_mode=False, obj=watch)
    except SystemExit as end:
        # Click ends so for shell completion, and when the reader of its help has gone away.
        fault = _ended_by_others(end)
        code = end.code if fault is None else explain_error(fault, watch)
    except (click.exceptions.Abort, KeyboardInterrupt):
        return fail("interrupted (Ctrl-C)", ExitCode.INTERRUPTED)
    except click.UsageError as error:
        return fail(_usage_message(error), ExitCode.INVALID)
    except Exception as error:
        return explain_error(error, watch)
    return code if isinstance(code, int) else ExitCode.DONE


def _ended_by_others(end: SystemExit) -> CommandError | None:
    """The error that code of another package has tried to end the program; None where click ends it."""
    from descheduler.policy.plugin_faults import place_in_foreign_code

    place = place_in_foreign_code(end)
    return CommandError(f"code of another package failed: SystemExit at {place}", ExitCode.FAILED) if place else None


def _explain_thread(ended: threading.ExceptHookArgs) -> None:
    """Says that a thread has ended with an unexpected error."""
    if isinstance(ended.exc_value, Exception):
        tell_fault("a thread", ended.exc_value)


def _usage_message(error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx else _PROGRAM
    text = _no_such_option(error) if isinstance(error, click.NoSuchOption) else _on_one_line(error)
    return f"{text[:1].lower()}{text[1:]} (see '{command} --help')"


def _on_one_line(error: click.UsageError) -> str:
    """Click lists the choices of a missing argument on lines of their own, with tabs."""
    return " ".join(error.format_message().split()).rstrip(". ").replace(". Choose from: ", "; choose from ")


def _no_such_option(error: click.NoSuchOption) -> str:
    from descheduler.documents.problems import did_you_mean, shown

    params = error.ctx.command.get_params(error.ctx) if error.ctx else []
    known = [name for param in params for name in (*param.opts, *param.secondary_opts) if name.startswith("--")]
    return f"no such option {shown(error.option_name)}{did_you_mean(error.option_name, known)}"


def _escape_what_cannot_be_encoded() -> None:
    """Names may hold characters that the terminal's encoding has not; a report with escapes beats no report."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def collect_rarely() -> None:
    """Has cycles looked for when many objects are new, in this process.

    The program makes few cycles, holds much, and ends soon. With Python's own thresholds the cyclic collector walks
    over all that was loaded again and again, and twice more at the end, where the memory goes back to the system
    anyway: for 30,000 pods an eighth of the time of a run.
    """
    gc.set_threshold(_YOUNG_OBJECTS, _ROUNDS, _ROUNDS)


def collect_no_more() -> None:
    """Takes all that there is out of the collector's sight, for a process that is about to end."""
    gc.freeze()


if __name__ == "__main__":  # without this, a CronJob that starts the module would end well and do nothing
    sys.exit(main())
