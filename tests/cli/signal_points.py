"""A signal at each line that the main thread runs, in turn: how the process ends then.

`python -m tests.cli.signal_points SCENE SIGNAL STRIDE` prints a JSON list with an object for every STRIDE-th line at
which the signal came: `{"place", "code", "err", "is_gone"}`, the last of which says whether no child is left. Each
has a process of its own, forked from one that has the program loaded, which ends as any program of Python does.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

from descheduler.cli.commands import commands
from descheduler.cli.ending.leaving import end_search_on_interrupt, stop_on_signals
from descheduler.cli.main import main
from descheduler.process_end import bound_to_process
from descheduler.supervision import Watch

_PATIENCE_SECONDS = 60.0
_CODE = 3
"""What each scene ends with where no signal comes."""
_NEVER_CLOSED = ExitStack()
"""What is still going on when the process ends."""

Scene = Callable[[Watch, Callable[[], None]], int]


def told(watch: Watch, begin: Callable[[], None]) -> int:
    """A run that has written its outcome."""
    with stop_on_signals(watch):
        watch.has_effects = True
        watch.exit_code = _CODE
        begin()
        return _CODE


def told_and_stopped(watch: Watch, begin: Callable[[], None]) -> int:
    """A run that a signal had stopped and that has written its outcome, with a child that hangs."""
    start = partial(subprocess.Popen, ["sleep", "600"], close_fds=False)
    _NEVER_CLOSED.enter_context(bound_to_process(start, subprocess.Popen.kill))
    with stop_on_signals(watch):
        watch.has_effects = watch.has_given_up = True
        signal.raise_signal(signal.SIGTERM)
        watch.exit_code = _CODE
        begin()
        return _CODE


def shown(watch: Watch, begin: Callable[[], None]) -> int:
    """A dry run on a dump that has shown its plan."""
    with end_search_on_interrupt(watch):
        watch.exit_code = _CODE
        begin()
        return _CODE


def under_way(watch: Watch, begin: Callable[[], None]) -> int:
    """A command that takes a while, and that signals end at once."""
    begin()
    with end_search_on_interrupt(watch):
        return watch.call("reading", lambda: _CODE)


SCENES: dict[str, Scene] = {scene.__name__: scene for scene in (told, told_and_stopped, shown, under_way)}


class Tracer:
    """Counts lines from `begin` on, and sends a signal at one of them."""

    def __init__(self, number: int, point: int | None, note: Callable[[str], None]) -> None:
        self._number = number
        self._point = point
        self._note = note
        self.num_lines = 0

    def begin(self) -> None:
        """Lines count from here on, those of the callers too."""
        sys.settrace(self._trace)
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            frame.f_trace = self._trace
            frame = frame.f_back

    def _trace(self, frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line":
            self.num_lines += 1
            if self.num_lines - 1 == self._point:
                self._note(f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}")
                signal.raise_signal(self._number)
        return self._trace


class Child:
    """A forked process that writes into a pipe which its own children hold open as well."""

    def __init__(self) -> None:
        self._ours, self.pipe = os.pipe()
        os.set_inheritable(self.pipe, True)
        self.pid = os.fork()

    def note(self, text: str) -> None:
        """Writes for the parent to read. For the child."""
        os.write(self.pipe, text.encode())

    def wait(self) -> tuple[int, str, bool]:
        """Exit code, what was written, and whether no process is left that has the pipe. For the parent."""
        os.close(self.pipe)
        _, status = os.waitpid(self.pid, 0)
        written = b""
        while is_ready := bool(select.select([self._ours], [], [], _PATIENCE_SECONDS)[0]):
            if not (piece := os.read(self._ours, 1000)):
                break
            written += piece
        os.close(self._ours)
        return os.waitstatus_to_exitcode(status), written.decode(), is_ready


def _become_program(scene: Scene, tracer: Tracer) -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["descheduler"]
    mock.patch.object(commands, "main", lambda **named: scene(named["obj"], tracer.begin)).start()
    return main()


def _count_lines(scene: Scene) -> int:
    """How many lines there are without a signal, with those that Python runs at its end."""
    child = Child()
    if child.pid:
        return int(child.wait()[1])
    tracer = Tracer(signal.SIGINT, None, child.note)
    leave = os._exit

    def tell(code: int = 0) -> None:
        child.note(str(tracer.num_lines))
        leave(code)

    os._exit = tell  # type: ignore[assignment]
    atexit.register(tell)
    sys.exit(_become_program(scene, tracer))


def _try_all(scene: Scene, number: int, stride: int) -> Tracer | None:
    """Prints the results; in each child the tracer with which it becomes the program, in the parent None."""
    results = []
    for point in range(0, _count_lines(scene), stride):
        with tempfile.TemporaryFile() as err:
            child = Child()
            if not child.pid:
                os.dup2(err.fileno(), 2)
                return Tracer(number, point, child.note)
            code, place, is_gone = child.wait()
            err.seek(0)
            results.append({"place": place, "code": code, "err": err.read().decode(), "is_gone": is_gone})
    print(json.dumps(results))
    return None


if __name__ == "__main__":
    chosen = SCENES[sys.argv[1]]
    task = _try_all(chosen, int(sys.argv[2]), int(sys.argv[3]))
    if task is not None:
        sys.exit(_become_program(chosen, task))
