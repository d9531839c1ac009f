"""Plugin tdm (volcano.md §8.7): nodes of a revocable zone at their hours, and whom it gives up for others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from descheduler.placement.volcano.session import Session

from .worlds import Object, group, node, owned, plugin, pods, renamed, scheduling, session, snapshot_of, tasks_of

ZONE, PREEMPTABLE = "volcano.sh/revocable-zone", "volcano.sh/preemptable"
_TDM = plugin(
    "tdm",
    arguments={
        "tdm.revocable-zone.night": "22:00-6:00",
        "tdm.revocable-zone.day": "9:00-17:00",
        "tdm.revocable-zone.always": "0:00-0:00",
    },
)
_CONFIGURATION: Mapping[str, object] = {
    "actions": "enqueue, allocate",
    "tiers": [{"plugins": [plugin("gang"), _TDM, plugin("predicates")]}],
}


def _in_zone(zone: str) -> Object:
    made = node(f"of-{zone}")
    return {**made, "metadata": {**made["metadata"], "labels": {ZONE: zone}}}


def _stating(only: list[Object], **annotations: str) -> list[Object]:
    (pod,) = only
    stated = {"preemptable": PREEMPTABLE, "zone": ZONE}
    more = {stated[key]: value for key, value in annotations.items()}
    metadata = pod["metadata"]
    return [{**pod, "metadata": {**metadata, "annotations": {**metadata["annotations"], **more}}}]


def _verdict(hour: int, *nodes: Object, minute: int = 30, **annotations: Any) -> tuple[LandingVerdict, str | None]:
    """Where the replacement pod of one that leaves node `a` is scheduled at that hour."""
    victim = _stating(owned(pods("job", 1, on="a")), **annotations)
    full = {**node("a"), "spec": {"unschedulable": True}}
    snapshot = snapshot_of(full, *nodes, group("job", phase="Running"), victim)
    at = replace(snapshot, taken_at=datetime(2026, 6, 30, hour, minute, tzinfo=UTC))
    prover = LandingProver(at, configuration=scheduling(_CONFIGURATION))
    (pod,) = at.pods
    landing = prover.book(pod)
    return landing.verdict, landing.node


@pytest.mark.parametrize(
    ("hour", "annotations", "expected"),
    [
        pytest.param(12, {"zone": "*"}, "of-day", id="at its hours"),
        pytest.param(12, {"preemptable": "true"}, "of-day", id="a task that can be preempted can be revoked"),
        pytest.param(18, {"zone": "*"}, None, id="after its hours"),
        pytest.param(12, {}, None, id="never a task that cannot be revoked"),
        pytest.param(12, {"zone": "day"}, None, id="only the star counts"),
        pytest.param(12, {"zone": "", "preemptable": "true"}, None, id="the annotation comes first"),
    ],
)
def test_node_of_a_zone_takes_revocable_tasks_at_its_hours(
    hour: int, annotations: dict[str, Any], expected: str | None
) -> None:
    found = _verdict(hour, _in_zone("day"), **annotations)

    assert found == ((LandingVerdict.LIKELY, expected) if expected else (LandingVerdict.NO, None))


@pytest.mark.parametrize(("hour", "minute", "is_open"), [(8, 59, False), (9, 0, True), (17, 0, True), (17, 1, False)])
def test_zone_is_open_from_the_first_minute_to_the_last(hour: int, minute: int, is_open: bool) -> None:
    assert (_verdict(hour, _in_zone("day"), minute=minute, zone="*")[1] is not None) is is_open


def test_hours_that_end_when_they_begin_are_a_whole_day() -> None:
    assert _verdict(23, _in_zone("always"), zone="*")[1] == "of-always"


@pytest.mark.parametrize(
    ("hour", "is_open"), [pytest.param(23, True, id="evening"), pytest.param(3, False, id="early morning")]
)
def test_hours_over_midnight_are_counted_from_today(hour: int, is_open: bool) -> None:
    assert (_verdict(hour, _in_zone("night"), zone="*")[1] is not None) is is_open


def test_zone_without_hours_takes_nothing() -> None:
    assert _verdict(12, _in_zone("other"), zone="*")[0] is LandingVerdict.NO


def test_node_of_a_zone_scores_higher_for_a_revocable_task() -> None:
    assert _verdict(12, node("b"), _in_zone("day"), zone="*")[1] == "of-day"


def _asked(
    *victims: Object, budget: Mapping[str, str] | None = None, initiator: Mapping[str, str] | None = None
) -> list[str]:
    """The running tasks of one job that a pending task of another one is given."""
    own: Any = group("own", least=3, phase="Running")
    own["metadata"]["annotations"] = dict(budget or {})
    pending = _stating(pods("new", 1), **(initiator or {}))
    made: Session = session(node("a"), _in_zone("day"), own, group("new"), *victims, pending, tiers=((_TDM,),))
    tasks = tasks_of(made)
    candidates = [tasks[name] for name in sorted(tasks) if name.startswith("own")]
    return [each.pod.name for each in made.tiers.victims("preemptable", tasks["new-0"], candidates)]


@pytest.mark.parametrize(
    ("budget", "names"),
    [
        pytest.param({}, ["own-0"], id="one without a budget"),
        pytest.param({"volcano.sh/jdb-max-unavailable": "50%"}, ["own-0", "own-1"], id="half of three, rounded up"),
        pytest.param({"volcano.sh/jdb-max-unavailable": "0"}, [], id="none"),
        pytest.param({"volcano.sh/jdb-min-available": "1"}, ["own-0", "own-1"], id="down to one"),
        pytest.param({"volcano.sh/jdb-min-available": "3"}, [], id="none where just enough run"),
        pytest.param({"volcano.sh/jdb-min-available": "4"}, ["own-0"], id="one where too few run"),
    ],
)
def test_victims_are_limited_by_the_budget_of_their_job(budget: dict[str, str], names: list[str]) -> None:
    assert _asked(*pods("own", 3, on="a"), budget=budget) == names


def test_no_task_goes_where_more_are_away_already_than_may() -> None:
    waiting = pods("own", 2, role="waits")

    assert _asked(*pods("own", 3, on="a"), *waiting, budget={"volcano.sh/jdb-max-unavailable": "1"}) == []


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_task_that_has_ended_is_not_away(phase: str) -> None:
    ended = renamed("own-ended", pods("own", 1, on="a"))
    ended["status"] = {"phase": phase}

    assert _asked(*pods("own", 3, on="a"), ended, budget={"volcano.sh/jdb-max-unavailable": "1"}) == ["own-0"]


def test_tasks_of_zones_and_tasks_that_are_not_preemptable_are_no_victims() -> None:
    spared = _stating([renamed("own-spared", pods("own", 1, on="a"))], preemptable="false")

    assert _asked(*spared, renamed("own-zone", pods("own", 1, on="of-day"))) == []


@pytest.mark.parametrize("initiator", [{"preemptable": "true"}, {"zone": "*"}])
def test_revocable_task_is_given_nothing(initiator: dict[str, str]) -> None:
    assert _asked(*pods("own", 3, on="a"), initiator=initiator) == []


def test_job_that_is_not_preemptable_comes_first_and_starves() -> None:
    soft: Any = group("a-soft")
    soft["metadata"]["labels"] = {PREEMPTABLE: "true"}
    made = session(node("a"), soft, group("b-firm"), *pods("a-soft", 1), *pods("b-firm", 1), tiers=((_TDM,),))
    jobs = made.jobs["batch/a-soft"], made.jobs["batch/b-firm"]

    assert made.tiers.job_is_less(jobs[1], jobs[0])
    assert [made.tiers.is_starving(job) for job in jobs] == [False, True]
