"""A round: many scripts at once, whose jobs somebody carries out, and what was seen of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from descheduler.model.text.duration import parse_duration
from tests.e2e.control_plane import ControlPlane
from tests.e2e.judge.watch import Watch, WatchFailedError
from tests.e2e.kube_api import Object
from tests.e2e.peers.koord_phases.script import LiveScript
from tests.e2e.peers.koordinator import migration_only, start_descheduler
from tests.e2e.program import Program, koordinator_policy

_JOBS = "/apis/scheduling.koordinator.sh/v1alpha1/podmigrationjobs"
_ENDED = ("Succeeded", "Failed", "Aborted")
_LONGEST_SECONDS = 120.0
_QUIET_SECONDS = 5.0
"""For so long those are looked at that are not expected to end, after all others have and their own time is over."""
_LATE_SECONDS = 30.0
"""So much later than koord-descheduler a run may get a job to where a step of its script finds it."""
_SHORT = timedelta(minutes=1)
"""Time limits below this are meant to pass."""

Carrier = Callable[[ControlPlane, Mapping[str, Any]], AbstractContextManager[object]]
"""Has the jobs of users carried out by somebody, with these arguments of MigrationController."""


@dataclass
class Seen:
    """The different phases, statuses and reasons of one job in order; the job as it was last; whether it was deleted.

    `is_replaced` says whether its pod has gone in the end, None where it had none. `at_steps` are the states in which
    the steps of the script found it.
    """

    sequence: list[tuple[str, ...]] = field(default_factory=list)
    last: Object = field(default_factory=dict)
    is_deleted: bool = False
    is_replaced: bool | None = None
    at_steps: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to come."""
        return self.is_deleted or self.last.get("status", {}).get("phase") in _ENDED

    def take(self, kind: str, job: Object) -> None:
        """A change of the job."""
        self.last, self.is_deleted = job, kind == "DELETED"
        status = job.get("status") or {}
        words = (status.get("phase") or "", status.get("status") or "", status.get("reason") or "")
        if words not in self.sequence:
            self.sequence.append(words)


def play_round(
    plane: ControlPlane,
    cases: Sequence[Mapping[str, Any]],
    tag: str,
    carrier: Carrier,
    states_at_steps: Mapping[str, Sequence[tuple[str, ...]]] | None = None,
) -> dict[str, tuple[LiveScript, Seen]]:
    """What was seen of each of `cases`, which have the same arguments, by its name.

    A step does not come before its job has been in the state of `states_at_steps`, by the names of scripts: whoever
    starts later than another is not to be told from who does less.
    """
    scripts = [LiveScript(case, tag, plane.api) for case in cases]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(LiveScript.set_up, scripts))
        list(pool.map(LiveScript.wait_until_ready, scripts))
    seen = {script.job_name: Seen() for script in scripts}
    with _watched(plane, seen), _created(scripts) as born, carrier(plane, cases[0]["args"]):
        _play_steps(scripts, seen, born, states_at_steps or {})
        for script in scripts:
            seen[script.job_name].is_replaced = script.is_replaced()
    for script in scripts:
        script.remove()
    return {script.name: (script, seen[script.job_name]) for script in scripts}


@contextmanager
def _created(scripts: Sequence[LiveScript]) -> Iterator[float]:
    """All jobs at once; the time in seconds of the monotonic clock."""
    born = time.monotonic()
    for script in scripts:
        script.create_job()
    yield born


def _play_steps(
    scripts: Sequence[LiveScript],
    seen: Mapping[str, Seen],
    born: float,
    states_at_steps: Mapping[str, Sequence[tuple[str, ...]]],
) -> None:
    steps = sorted(
        ((step["at"], script, step) for script in scripts for step in script.case["steps"]), key=lambda each: each[0]
    )
    for at, script, step in steps:
        time.sleep(max(0.0, born + at - time.monotonic()))
        job = seen[script.job_name]
        awaited = states_at_steps.get(script.name, ())[len(job.at_steps) :]
        if awaited:
            _wait_for_state(job, awaited[0])
        job.at_steps.append((job.sequence or [()])[-1])
        script.play(step)
    ending = [seen[script.job_name] for script in scripts if _is_to_end(script)]
    while not all(each.is_over for each in ending) and time.monotonic() < born + _LONGEST_SECONDS:
        time.sleep(0.2)
    time.sleep(max(0.0, born + max(map(_limit_seconds, scripts)) - time.monotonic()))
    time.sleep(_QUIET_SECONDS)


def _wait_for_state(job: Seen, state: tuple[str, ...]) -> None:
    give_up_at = time.monotonic() + _LATE_SECONDS
    while state not in job.sequence and not job.is_over and time.monotonic() < give_up_at:
        time.sleep(0.1)


def _limit_seconds(script: LiveScript) -> float:
    """The time limit of the job, 0 for one that is not meant to pass."""
    limit = parse_duration(script.case["job"]["spec"].get("ttl", "0s"))
    return limit.total_seconds() if limit < _SHORT else 0.0


def _is_to_end(script: LiveScript) -> bool:
    last = script.case["expect"]["sequence"][-1]
    return "deleted" in last or last["phase"] in _ENDED


@contextmanager
def _watched(plane: ControlPlane, seen: Mapping[str, Seen]) -> Iterator[None]:
    """Has all changes of jobs taken down meanwhile."""
    watch, is_over = Watch(plane.api, _JOBS), threading.Event()

    def follow() -> None:
        while not is_over.is_set():
            try:
                for kind, job in watch.changes_within(2):
                    if job["metadata"]["name"] in seen:
                        seen[job["metadata"]["name"]].take(kind, job)
            except WatchFailedError:
                continue

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


@contextmanager
def koord_descheduler(plane: ControlPlane, args: Mapping[str, Any]) -> Iterator[None]:
    """koord-descheduler carries the jobs out."""
    configuration = migration_only()
    (config,) = configuration["profiles"][0]["pluginConfig"]
    head = {key: config["args"][key] for key in ("apiVersion", "kind")}
    config["args"] = {**head, **args}
    component = start_descheduler(plane, configuration)
    try:
        yield
    finally:
        component.stop()


@contextmanager
def this_program(plane: ControlPlane, args: Mapping[str, Any]) -> Iterator[None]:
    """Runs of this program follow each other, as those of a CronJob do."""
    program, is_over = Program(plane.kubeconfig, _folder(plane)), threading.Event()
    policy = koordinator_policy("RemovePodsViolatingNodeTaints", dict(args))
    failed: list[str] = []

    def run_again_and_again() -> None:
        while not is_over.is_set():
            running = program.start(policy)
            while running.is_running and not is_over.wait(0.2):
                pass
            if running.is_running:
                running.terminate()
            report = running.wait()
            if report.exit_code == 1:
                failed.append(report.log)

    thread = threading.Thread(target=run_again_and_again, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
    assert not failed, failed[0]


def _folder(plane: ControlPlane) -> Path:
    folder = plane.folder / "policies"
    folder.mkdir(exist_ok=True)
    return folder
