"""The process that becomes the program: it has the program loaded, and forks one child for each run.

It reads one JSON object a line from standard input, `{"id", "arguments", "stdout", "stderr", "folder"}`, and writes
`{"id", "pid", "started_at"}` when the child is there and `{"id", "exit_code", "max_rss_bytes", "ended_at"}` when it
has ended. It has a single thread, so forking is safe, and the children end as any Python program does. Standard output
is a path, or "gone" for a pipe that nobody reads.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import resource
import select
import signal
import sys
import time
from typing import Any

_LOADED_FIRST = ("numpy", "yaml", "tenacity", "urllib3", "prometheus_client", "kubernetes.client", "kubernetes.config")
_MOST_MEMORY_BYTES = 6_000_000_000
"""A program without bounds shall end itself, not the machine."""


def _load_program() -> None:
    """Imports what a live run imports, so that children start at once."""
    for name in _LOADED_FIRST:
        importlib.import_module(name)
    import descheduler

    for module in pkgutil.walk_packages(descheduler.__path__, "descheduler."):
        if ".planner" not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    # The command line is loaded by each child: a clock that starts with it shall start with the run.
    for name in [name for name in sys.modules if name.startswith("descheduler.cli")]:
        del sys.modules[name]


def _serve(orders: int, news: int) -> dict[str, Any] | None:
    """Forks children until the orders end; returns the order in each child, and None in the parent."""
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake_write)
    children: dict[int, Any] = {}
    pending = b""
    while True:
        ready, _, _ = select.select([orders, wake_read], [], [])
        if wake_read in ready:
            os.read(wake_read, 4096)
            _report_ended(children, news)
        if orders in ready:
            piece = os.read(orders, 1 << 16)
            if not piece:
                return None
            *lines, pending = (pending + piece).split(b"\n")
            for line in lines:
                order: dict[str, Any] = json.loads(line)
                started_at = time.monotonic()
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    for number in (wake_read, wake_write, orders, news):
                        os.close(number)
                    return order
                children[pid] = order["id"]
                _write(news, {"id": order["id"], "pid": pid, "started_at": started_at})


def _report_ended(children: dict[int, Any], news: int) -> None:
    while children:
        pid, status, usage = os.wait4(-1, os.WNOHANG)
        if not pid:
            return
        code = os.waitstatus_to_exitcode(status)
        ended = {"exit_code": code if code >= 0 else 128 - code, "was_raw_signal": code < 0}
        figures = {"max_rss_bytes": usage.ru_maxrss * 1024, "ended_at": time.monotonic()}
        _write(news, {"id": children.pop(pid)} | ended | figures)


def _write(news: int, value: dict[str, Any]) -> None:
    os.write(news, json.dumps(value).encode() + b"\n")


def _become_program(order: dict[str, Any]) -> int:
    """Puts files, folder and signals right, and runs the program's entry point."""
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL if number is not signal.SIGPIPE else signal.SIG_IGN)
    os.chdir(order["folder"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(_open_output(order["stdout"]), 1)
    os.dup2(_open_output(order["stderr"]), 2)
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY_BYTES, _MOST_MEMORY_BYTES))
    sys.argv = ["descheduler", *order["arguments"]]
    from descheduler.__main__ import main

    # Ignored until now, since this interpreter is not the program yet.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return main()


def _open_output(path: str) -> int:
    if path == "gone":
        read_end, write_end = os.pipe()
        os.close(read_end)
        return write_end
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inbox, outbox = os.dup(0), os.dup(1)
    _load_program()
    gc.freeze()
    _write(outbox, {"id": None, "is_ready": True})
    task = _serve(inbox, outbox)
    if task is not None:
        sys.exit(_become_program(task))
