"""Compares sessions with recorded cycles of Volcano and counts, by class of case, in what the two agree.

Where Volcano leaves something to chance, a case is played with several choices: whatever was recorded as stable has to
come of each of them, and everything else has to be among what was seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from descheduler.documents.problems import PolicyError
from descheduler.placement.volcano.jobs import Status
from descheduler.placement.volcano.order import Choices, FirstChoices
from descheduler.placement.volcano.session import Session
from tests.conformance.outcomes import CaseTally
from tests.conformance.volcano.at_open import figures_of, queues_after
from tests.conformance.volcano.worlds import Case, RandomChoices, World
from tests.placement.volcano.cycle.cycle import run_cycle

_NUM_SEEDS = 3
_TOLERANCE = 1e-9
_UNLIMITED = 1e308
_CARDS = ("volcano.sh/gpu-index", "volcano.sh/vgpu-ids-new")
_SEEN = {"binds_seen": "binds", "pipelined_seen": "pipelined", "evictions_seen": "evicted"}


def is_volcano_case(vector: Mapping[str, Any]) -> bool:
    """Whether a recorded case is a cycle of Volcano."""
    return "scheduler_conf" in vector


@dataclass
class VolcanoTally(CaseTally):
    """Outcomes by class, of whole cases."""

    def add(self, case: Case) -> str | None:
        """Checks one case, notes the outcome and returns what differs, if anything."""
        try:
            found = differences_of(case)
        except Exception as error:
            found = [f"{type(error).__name__}: {error}"]
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        return self.note(case["id"], case["class"], "cases", f"{found[0]}{more}" if found else None)

    def table(self) -> str:
        """Passed of all, by class, as a Markdown table."""
        return self.outcomes.table("class", ("cases",), has_sums=True)


def differences_of(case: Case) -> list[str]:
    """How our session departs from a recorded cycle."""
    expect = case["expect"]
    if "conf_error" in expect:
        return [] if _is_refused(case) else ["configuration: expected to be refused"]
    if "panic" in expect:
        return [] if World.of(case).session().fault else ["session: expected to end"]
    world = World.of(case)
    opened = figures_of(world.session(), expect["at_open"])
    found = [each for field in expect["at_open"] for each in _compared(f"at_open.{field}", expect["at_open"], opened)]
    players: list[Choices] = [FirstChoices(), *map(RandomChoices, range(_NUM_SEEDS))]
    for choices in players:
        session = world.session(choices)
        run_cycle(session)
        outcome = _outcome(session)
        session.close()
        outcome |= {
            "podgroup_phases": {job.id: job.phase for job in session.jobs.values()},
            "podgroup_conditions": {
                job.id: sorted(f"{kind}:{reason}" for kind, reason in job.conditions.items())
                for job in session.jobs.values()
            },
        }
        found += _cycle_differences(expect, outcome)
    return list(dict.fromkeys(found))


def _is_refused(case: Case) -> bool:
    try:
        World.of(case)
    except PolicyError:
        return True
    return False


def _outcome(session: Session) -> dict[str, Any]:
    names = session.cluster.table.names
    tasks = [task for job in session.jobs.values() for task in job.tasks.values()]
    binds = {key: names[task.node] for key, (task, _) in session.binds.items()}
    pipelined = {task.key: names[task.node] for task in tasks if task.status is Status.PIPELINED}
    actions = [action for _, action in session.binds.values()]
    of_pods = {task.key: task.pod.annotations for task in tasks}
    noted = {key: next((found[name] for name in _CARDS if name in found), "") for key, found in of_pods.items()}
    devices = {key: cards for key, cards in {**noted, **session.devices}.items() if cards}
    counts = {
        job.id: {status.value: number for status, number in job.counts.items() if number}
        for job in session.jobs.values()
    }
    return {
        "binds": binds,
        "bound": sorted(binds),
        "bind_actions": {action: actions.count(action) for action in actions},
        "evictions": [
            {"pod": each.task.key, "node": names[each.node], "action": each.action} for each in session.evictions
        ],
        "evicted": {each.task.key: each.action for each in session.evictions},
        "eviction_count": len(session.evictions),
        "pipelined": pipelined,
        "pipelined_pods": sorted(pipelined),
        "reserved": {task.key: names[task.node] for task in tasks if task.status is Status.ALLOCATED},
        "job_task_counts": counts,
        "job_task_counts_stable": counts,
        "queues_after": queues_after(session),
        "devices": devices,
    }


def _cycle_differences(expect: Mapping[str, Any], outcome: dict[str, Any]) -> Iterator[str]:
    """What was recorded as stable and is not so, or was never seen."""
    want = dict(expect)
    if "evictions" in want and not want["evictions_order_stable"]:
        for each in (want, outcome):
            each["evictions"] = sorted(each["evictions"], key=lambda eviction: str(eviction["pod"]))
    if "job_task_counts_stable" in want:
        outcome["job_task_counts_stable"] = {
            job: outcome["job_task_counts"][job] for job in want["job_task_counts_stable"]
        }
    for field in outcome:
        if field in want:
            yield from _compared(field, want, outcome)
    for field, source in _SEEN.items():
        for pod in {**want.get(field, {}), **outcome[source]} if field in want else ():
            got = outcome[source].get(pod, "")
            if got not in want[field].get(pod, [""]):
                yield f"{field} {pod}: expected one of {want[field].get(pod, [''])}, got {got or 'nothing'}"


def _compared(field: str, want: Mapping[str, Any], got: Mapping[str, Any]) -> Iterator[str]:
    key = field.rpartition(".")[2]
    yield from _differences(field, want[key], got.get(key))


def _differences(place: str, want: Any, got: Any) -> Iterator[str]:
    """Leaf by leaf; an amount that is not named is none, and a code is that of the last word on a node."""
    if isinstance(want, Mapping) and "codes" in want:
        want = want["codes"][-1]
    if want is None and isinstance(got, int):
        want = 0
    if isinstance(want, Mapping) and isinstance(got, Mapping):
        for key in {**want, **got}:
            if key in want or not _is_nothing(got[key]):
                yield from _differences(
                    f"{place}.{key}", want.get(key, _like(got.get(key))), got.get(key, _like(want.get(key)))
                )
    elif (
        isinstance(want, Sequence) and isinstance(got, Sequence) and not isinstance(want, str) and len(want) == len(got)
    ):
        for index, (left, right) in enumerate(zip(want, got, strict=True)):
            yield from _differences(f"{place}[{index}]", left, right)
    elif isinstance(want, bool) or not isinstance(want, int | float) or not isinstance(got, int | float):
        if want != got:
            yield f"{place}: expected {want}, got {got}"
    elif not math.isclose(want, got, rel_tol=_TOLERANCE, abs_tol=1e-9) and min(want, got) < _UNLIMITED:
        yield f"{place}: expected {want}, got {got}"


def _is_nothing(value: Any) -> bool:
    return not value or value == math.inf


def _like(other: Any) -> Any:
    return 0 if isinstance(other, int | float) else None
