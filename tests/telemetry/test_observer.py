from __future__ import annotations

import logging

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round
from descheduler.cycle.plugins import REGISTRY
from descheduler.policy.load import load_policy
from descheduler.telemetry.observer import PluginRun, RunObserver
from tests.builders import NOW, node_object, pod_object
from tests.migration.stand_ins import Clock
from tests.report.decided_cycles import pod_life_time_policy
from tests.report.outcomes import EVICTED, REFUSED


def test_every_stage_is_timed() -> None:
    clock = Clock()
    clock.sleep(100)
    observer = RunObserver(clock=clock.now)

    with observer.run(), observer.cycle():
        clock.sleep(1)
        with observer.snapshot():
            clock.sleep(2)
        with observer.plugin_run("p", "PodLifeTime", "deschedule"):
            clock.sleep(4)

    assert (observer.run_seconds, observer.cycle_seconds, observer.snapshot_seconds) == (7, 7, 2)
    assert observer.plugin_runs == [PluginRun("p", "PodLifeTime", 4)]


def test_stage_that_fails_is_timed_too() -> None:
    clock = Clock()
    observer = RunObserver(clock=clock.now)

    def fail() -> None:
        with observer.snapshot():
            clock.sleep(3)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert observer.snapshot_seconds == 3


def test_decision_tells_the_observer_of_every_plugin() -> None:
    observer = RunObserver(clock=Clock().now)
    policy = load_policy(pod_life_time_policy(), REGISTRY)
    snapshot = snapshot_from_objects([node_object("a"), node_object("b"), pod_object("old")])

    observer.snapshot_read(snapshot)
    decide(policy, snapshot, now=NOW, this_round=Round(observer=observer))

    assert observer.plugin_runs == [PluginRun(policy.profiles[0].name, "PodLifeTime", 0)]
    assert observer.num_objects == {"Node": 2, "Pod": 1}


class Progress:
    """Stands in for the line of progress."""

    def __init__(self) -> None:
        self.heard: list[object] = []

    def planned(self, num_evictions: int) -> None:
        self.heard.append(num_evictions)

    def record(self, outcome: object) -> None:
        self.heard.append(outcome)

    def end(self) -> None:
        self.heard.append("end")


def test_progress_hears_of_the_evictions_of_plugins_where_it_is_shown() -> None:
    for progress in (None, Progress()):
        observer = RunObserver(clock=Clock().now)
        observer.progress = progress  # type: ignore[assignment]  # a stand-in
        with observer.cycle():
            observer.planned(2)
            observer.record(EVICTED)
            observer.record_for_user(REFUSED)

        assert progress is None or progress.heard == [2, EVICTED, "end"]


def test_objects_of_a_snapshot_are_counted_by_kind() -> None:
    observer = RunObserver()
    namespace = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "n"}}

    observer.snapshot_read(snapshot_from_objects([namespace, node_object("a")]))

    assert observer.num_objects == {"Node": 1, "Pod": 0, "Namespace": 1}


def test_plugin_that_fails_is_timed_and_its_traceback_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    observer = RunObserver(clock=Clock().now)
    caplog.set_level(logging.INFO - 6, "descheduler")

    with pytest.raises(ZeroDivisionError), observer.plugin_run("p", "X", "balance"):
        raise ZeroDivisionError

    assert observer.plugin_runs == [PluginRun("p", "X", 0)]
    assert [(each.levelno, each.message) for each in caplog.records] == [(14, "Traceback of a plugin that failed")]


def test_runs_of_plugins_that_are_asked_again_are_forgotten() -> None:
    observer = RunObserver(clock=Clock().now)
    with observer.plugin_run("p", "X", "balance"):
        pass
    mark = observer.mark()
    with observer.plugin_run("p", "Y", "balance"):
        pass

    observer.back_to(mark)

    assert observer.plugin_runs == [PluginRun("p", "X", 0)]
