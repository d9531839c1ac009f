from __future__ import annotations

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


def test_every_stage_is_timed() -> None:
    clock = Clock()
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
