"""Runs of the program, started and followed through the zygote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

_START_SECONDS = 300.0


@dataclass(slots=True)
class Process:
    """One run. `pid` and `started_at` are known once `started` is set, the rest once `ended` is."""

    started: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    pid: int = 0
    started_at: float = 0.0
    ended_at: float = 0.0
    exit_code: int = 0
    max_rss_bytes: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, number: int) -> bool:
        """Sends a signal; False when the process has ended."""
        with self.lock:
            if self.ended.is_set() or not self.pid:
                return False
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:  # reaped, and the news is on its way
                return False
            return True


class Zygote:
    """The forking process, as a context manager. May be used by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = count()
        self._runs: dict[int, Process] = {}
        self._is_ready = threading.Event()
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": ""}
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy", "KUBECONFIG"):
            environment.pop(name, None)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
            env=environment,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read_news, daemon=True)

    def __enter__(self) -> Zygote:
        self._reader.start()
        if not self._is_ready.wait(_START_SECONDS):
            raise RuntimeError("the program could not be loaded")
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)

    def start(self, arguments: list[str], *, stdout: str, stderr: str, folder: str) -> Process:
        """Starts a run of the program, and returns once its process is there."""
        assert self._process.stdin is not None
        run = Process()
        with self._lock:
            number = next(self._numbers)
            self._runs[number] = run
            order = {"id": number, "arguments": arguments, "stdout": stdout, "stderr": stderr, "folder": folder}
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()
        if not run.started.wait(_START_SECONDS):
            raise RuntimeError("the program could not be started")
        return run

    def _read_news(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            news: dict[str, Any] = json.loads(line)
            if news.get("is_ready"):
                self._is_ready.set()
                continue
            run = self._runs[news.pop("id")]
            if "pid" in news:
                run.pid, run.started_at = news["pid"], news["started_at"]
                run.started.set()
            else:
                with run.lock:
                    run.exit_code, run.ended_at = news["exit_code"], news["ended_at"]
                    run.max_rss_bytes = news["max_rss_bytes"]
                    run.ended.set()
