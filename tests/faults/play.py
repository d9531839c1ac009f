"""Plays one schedule: a server, the program, what disturbs it, and the history of it all."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.certificates import Certificate
from tests.faults.answers import PROMETHEUS_PREFIX, Answers
from tests.faults.bounds import latest_end
from tests.faults.disturbances import Disturbance, Event
from tests.faults.faults import Requests
from tests.faults.history import History, Request, Run
from tests.faults.leases import Leases
from tests.faults.processes import Process, Zygote
from tests.faults.rooms.leaving import left_over, open_jobs
from tests.faults.rooms.meddling import DELETED, change_jobs, delete_records
from tests.faults.rooms.scheduling import RoomScheduler
from tests.faults.rules import FaultPlan
from tests.faults.schedule import Output, Schedule
from tests.faults.server import FaultyServer
from tests.faults.stalls import QueueTimes, Stalls
from tests.faults.state import ClusterState
from tests.faults.timers import Timers
from tests.loopback import write_kubeconfig

_PATIENCE_SECONDS = 4.0
"""How much longer than allowed a run may take before it is killed."""
_LOOK_SECONDS = 0.2
_ANY_WRITE = "any write"
_LONGEST_START_SECONDS = 0.6
_SIGNALS = {Event.SIGTERM: signal.SIGTERM, Event.SIGINT: signal.SIGINT, Event.SIGKILL: signal.SIGKILL}


def play(
    schedule: Schedule,
    zygote: Zygote,
    folder: Path,
    *,
    certificate: Certificate,
    stalls: Stalls,
    starts: threading.Semaphore,
) -> History:
    """The history of the schedule; `folder` receives the files of its runs.

    A run takes from `starts` until it gets to evictions: what it does before is work, what it does then is waiting.
    """
    return _Play(schedule, zygote, folder, certificate, stalls, starts).play()


class _Play:
    def __init__(
        self,
        schedule: Schedule,
        zygote: Zygote,
        folder: Path,
        certificate: Certificate,
        stalls: Stalls,
        starts: threading.Semaphore,
    ) -> None:
        self._schedule = schedule
        self._zygote = zygote
        self._folder = folder
        self._certificate = certificate if schedule.is_tls else None
        self._stalls = stalls
        self._starts = starts
        self._evicts = threading.Event()
        self._history = History(schedule.seed, schedule.terms)
        self._timers = Timers()
        world, history = schedule.world, self._history
        self._state = ClusterState(world.objects, history, self._timers, grace_seconds=schedule.grace_seconds)
        self._leases = Leases(history)
        self._answers = answers = Answers(
            self._state,
            self._leases,
            history,
            page_size=schedule.page_size,
            secrets={"prometheus": schedule.credentials.prometheus_secret},
            usage=world.usage,
            has_jobs=world.has_jobs,
            claimed=world.claimed,
        )
        if world.provider:
            scheduler = RoomScheduler(
                self._state, self._timers, world.targets, schedule.seed, is_lucky=schedule.is_lucky
            )
            self._state.on_arrival, answers.objects.on_created = scheduler.replace, scheduler.hold
        self._server = FaultyServer(
            answers,
            self._leases,
            FaultPlan(schedule.seed, schedule.rules, schedule.at_write),
            history,
            self._timers,
            tls=self._certificate.server_context() if self._certificate else None,
        )
        self._server.token = schedule.credentials.token if self._certificate else ""
        self._process: Process | None = None
        self._run = Run()
        self._queued = QueueTimes(0)
        self._num_seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def play(self) -> History:
        with self._server:
            self._server.on_request = self._disturb
            self._write_files()
            self._play_run(0)
            if self._schedule.runs_again and self._run.exit_code:
                self._let_lease_expire()
                self._play_run(1)
            self._timers.finish()
        return self._history

    def _let_lease_expire(self) -> None:
        """What a killed run has left of its Lease would keep the next one from doing anything."""
        if self._run.was_ended and self._leases.holder:
            time.sleep(float(self._schedule.terms.lease_seconds or 0) + 0.2)

    def _play_run(self, index: int) -> None:
        terms, output = self._schedule.terms, self._schedule.output
        run = self._run = Run(index=index, has_output=output is Output.FILE)
        self._server.run = index
        self._evicts.clear()
        self._starts.acquire()
        stdout = {Output.FILE: str(self._folder / f"stdout.{index}"), Output.GONE: "gone", Output.FULL: "/dev/full"}
        self._process = process = self._zygote.start(
            self._arguments(index),
            stdout=stdout[output],
            stderr=str(self._folder / f"stderr.{index}"),
            folder=str(self._folder),
        )
        run.started_at = process.started_at
        self._history.runs.append(run)
        self._queued = QueueTimes(process.pid)
        self._evicts.wait(_LONGEST_START_SECONDS)
        self._starts.release()
        while not process.ended.wait(_LOOK_SECONDS):
            self._queued.look()
            if time.monotonic() > latest_end(terms, run) + _PATIENCE_SECONDS + self._stalled(run):
                run.was_killed = True
                process.send(signal.SIGKILL)
                process.ended.wait()
        self._history.left[index] = left_over(self._state.store, self._answers.objects.made)
        self._history.open_jobs[index] = open_jobs(self._state.store)
        run.ended_at, run.exit_code, run.max_rss_bytes = process.ended_at, process.exit_code, process.max_rss_bytes
        run.stalled_seconds = self._stalled(run)
        run.stdout, run.stderr = self._read(f"stdout.{index}"), self._read(f"stderr.{index}")
        run.metrics = self._read(f"metrics.{index}.prom")

    def _stalled(self, run: Run) -> float:
        return self._stalls.seconds_between(run.started_at, time.monotonic()) + self._queued.seconds

    def _arguments(self, index: int) -> list[str]:
        files = [f"--policy-config-file={self._folder / 'policy.json'}", f"--kubeconfig={self._folder / 'kubeconfig'}"]
        if self._schedule.writes_metrics:
            files.append(f"--metrics-textfile={self._folder / f'metrics.{index}.prom'}")
        return ["run", *files, *self._schedule.flags]

    def _write_files(self) -> None:
        credentials, server = self._schedule.credentials, self._server
        user_info = f"robot:{credentials.password}@" if credentials.password else ""
        scheme = "https" if self._certificate else "http"
        authority = self._certificate.file if self._certificate else None
        user: dict[str, str] = {}
        if credentials.written and credentials.is_in_file:
            user = {"tokenFile": self._write("token", credentials.written)}
        elif credentials.written:
            user = {"token": credentials.written}
        write_kubeconfig(
            self._folder / "kubeconfig", f"{scheme}://{user_info}{server.address}", user, authority=authority
        )
        self._write("policy.json", json.dumps(self._policy(), indent=1))

    def _policy(self) -> dict[str, Any]:
        world, credentials = self._schedule.world, self._schedule.credentials
        if not world.asks_prometheus:
            return world.policy
        user_info = f"robot:{credentials.prometheus_password}@" if credentials.prometheus_password else ""
        prometheus: dict[str, Any] = {"url": f"http://{user_info}{self._server.clear_address}{PROMETHEUS_PREFIX}"}
        if credentials.prometheus_secret:
            prometheus["authToken"] = {"secretReference": {"namespace": "monitoring", "name": "prometheus"}}
        return world.policy | {"metricsProviders": [{"source": "Prometheus", "prometheus": prometheus}]}

    def _write(self, name: str, text: str) -> str:
        path = self._folder / name
        fresh = path.with_suffix(".new")
        fresh.write_text(text)
        fresh.replace(path)
        return str(path)

    def _read(self, name: str) -> str:
        path = self._folder / name
        return path.read_text(errors="replace") if path.exists() else ""

    def _disturb(self, request: Request) -> None:
        """Called by the server for each request, before it is dealt with."""
        if request.kind == Requests.EVICTION:
            self._evicts.set()
        if request.run:
            return
        with self._lock:
            self._num_seen[request.kind] += 1
            self._num_seen[_ANY_WRITE] += request.method != "GET"
            numbers: dict[Requests | None, int] = {Requests(request.kind): self._num_seen[request.kind]}
            numbers |= {} if request.method == "GET" else {None: self._num_seen[_ANY_WRITE]}
        for disturbance in self._schedule.disturbances:
            if numbers.get(disturbance.after) == disturbance.nth:
                request.met = disturbance.event
                happen = self._happening(disturbance)
                if disturbance.delay_seconds:
                    self._timers.after(disturbance.delay_seconds, _whenever(happen), is_fact=False)
                else:
                    happen()

    def _happening(self, disturbance: Disturbance) -> Callable[[], object]:
        match disturbance.event:
            case Event.SIGTERM | Event.SIGINT | Event.SIGKILL:
                return lambda: self._signal(disturbance.event)
            case Event.PAUSE:
                return self._pause
            case Event.LEASE_SEIZED:
                return self._leases.seize
            case Event.LEASE_DELETED:
                return self._leases.delete
            case Event.TOKEN_ROTATED:
                return self._rotate_token
            case Event.PODS_DELETED:
                return self._delete_pods
            case Event.JOBS_CHANGED:
                return lambda: change_jobs(self._state.store)
        assert disturbance.event in DELETED, disturbance.event
        made, deletions = self._answers.objects.made, self._history.deletions
        return lambda: deletions.update(delete_records(self._state.store, made, disturbance.event))

    def _signal(self, event: Event) -> None:
        process, run = self._process, self._run
        if process is not None and run.index == 0 and process.send(_SIGNALS[event]):
            run.signals.append((time.monotonic(), event.value))

    def _pause(self) -> None:
        """Stops the process until its Lease has run out and a rival has it."""
        process, run = self._process, self._run
        if process is None or not process.send(signal.SIGSTOP):
            return
        stopped_at = time.monotonic()

        def resume(_: float) -> None:
            run.paused.append((stopped_at, time.monotonic()))
            process.send(signal.SIGCONT)

        seconds = float(self._schedule.terms.lease_seconds or 1) + 0.5
        self._timers.after(seconds, lambda _: self._leases.seize(), is_fact=False)
        self._timers.after(seconds + 0.1, resume, is_fact=False)

    def _rotate_token(self) -> None:
        token = self._schedule.credentials.next_token
        self._write("token", token + "\n")
        self._server.token = token

    def _delete_pods(self) -> None:
        """Somebody deletes every third pod."""
        for item in self._state.items("/api/v1/pods")[::3]:
            self._state.delete_by_other(item["metadata"]["uid"])


def _whenever(happen: Callable[[], object]) -> Callable[[float], object]:
    """`happen` as a timer calls it, whatever the time is."""
    return lambda _: happen()
