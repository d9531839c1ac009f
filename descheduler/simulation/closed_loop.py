"""A policy that runs again and again on the cluster of a dump, until it settles, repeats itself or time is up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from statistics import pstdev

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.migration_controller.workloads import WorkloadIds
from descheduler.model.requests import CPU, MEMORY
from descheduler.plan.decisions import Decisions
from descheduler.plan.facts import PluginFacts
from descheduler.plan.run_memory import RunMemory
from descheduler.report.simulation_document import ClusterFigures, Ending, SimulatedCycle, SimulatedMove, Utilization
from descheduler.simulation.arrivals import Successor
from descheduler.simulation.carrying_out import CarriedOut, carried_out, undecided_pods
from descheduler.simulation.endings import Found, ending_of, found_by

Decide = Callable[[Snapshot, datetime, RunMemory], Decisions]
"""One dry run of the policy over a cluster at a time, with what the run before left."""


class Course(msgspec.Struct, frozen=True):
    """What a policy does cycle after cycle, beginning with a cluster `before`.

    `runs` are the decisions of each cycle, and those of one more run, which are not carried out; `found` is what each
    of these runs found. `undecided` are the pods of `undecided_pods` at the end.
    """

    ending: Ending
    before: ClusterFigures
    cycles: tuple[SimulatedCycle, ...]
    runs: tuple[Decisions, ...]
    found: tuple[Found, ...]
    undecided: Mapping[str, int]


def run_cycles(
    snapshot: Snapshot, decide: Decide, *, now: datetime, memory: RunMemory, every: timedelta, most: int
) -> Course:
    """What `decide` comes to in at most `most` cycles, the first of them `now`, the others `every` after the last."""
    cycles: list[SimulatedCycle] = []
    runs = [decide(snapshot, now, memory)]
    originals = frozenset(pod.uid for pod in snapshot.pods)
    found = [found_by(runs[-1], originals)]
    undecided = undecided_pods(runs[-1])
    before = figures_of(runs[-1], undecided)
    while (ending := ending_of(runs[-1], memory, found, cycles_left=most - len(cycles))) is None:
        state = carried_out(runs[-1], every)
        memory, undecided = state.memory, state.undecided
        runs.append(decide(state.snapshot, state.now, memory))
        found.append(found_by(runs[-1], originals))
        cycles.append(_cycle(len(cycles) + 1, runs[-2], state, figures_of(runs[-1], undecided)))
    return Course(ending, before, tuple(cycles), tuple(runs), tuple(found), undecided)


def _cycle(number: int, decisions: Decisions, state: CarriedOut, after: ClusterFigures) -> SimulatedCycle:
    moves = tuple(_moves(decisions, state.arrivals))
    return SimulatedCycle(
        cycle=number,
        at=decisions.now,
        evictions=len(moves),
        plugins=dict(Counter(move.plugin for move in moves)),
        replacements=dict(Counter(move.replacement for move in moves)),
        goals=tuple(goal.sentence for facts in decisions.facts.values() for goal in facts.goals),
        moves=moves,
        after=after,
    )


def _moves(decisions: Decisions, arrivals: tuple[Successor, ...]) -> Iterator[SimulatedMove]:
    ids = WorkloadIds(decisions.snapshot)
    for arrival in arrivals:
        move, pod = arrival.move, arrival.move.pod
        yield SimulatedMove(
            namespace=pod.namespace,
            name=pod.name,
            workload=str(ids.of(pod)),
            from_node=pod.node_name,
            to_node=(arrival.pod.node_name or None) if arrival.pod is not None else None,
            replacement=arrival.fate,
            profile=move.profile,
            plugin=move.plugin,
        )


_OVER = "nodes over target"
"""What the planner calls that figure of its goal."""


def figures_of(decisions: Decisions, undecided: Mapping[str, int]) -> ClusterFigures:
    """The figures of the cluster that `decisions` were taken on, of whose pending pods so many are `undecided`."""
    snapshot = decisions.snapshot
    over = [number for facts in decisions.facts.values() for number in _over_target(facts)]
    return ClusterFigures(
        pods=len(snapshot.pods),
        pending=sum(not (pod.node_name or pod.is_terminal) for pod in snapshot.pods),
        unknown=sum(undecided.values()),
        nodes_over_target=max(over, default=None),
        cpu=_utilization(snapshot, CPU),
        memory=_utilization(snapshot, MEMORY),
    )


def _over_target(facts: PluginFacts) -> Iterator[int]:
    """How many nodes a plugin finds over its target, where it has one."""
    if facts.nodes is not None and facts.nodes.target_thresholds:
        yield facts.nodes.over
    yield from (level.before for goal in facts.goals for level in goal.levels if level.counts == _OVER)


def _utilization(snapshot: Snapshot, resource: str) -> Utilization:
    """Requests of the pods that have not finished, in percent of what each node can allocate; cordoned nodes count."""
    percents = [
        (100 * _requested(snapshot, node.name, resource) / allocatable, node.name)
        for node in snapshot.nodes
        if (allocatable := node.allocatable.get(resource, 0)) > 0
    ]
    highest, name = max(percents, key=lambda each: each[0], default=(0.0, ""))
    deviation = pstdev(percent for percent, _ in percents) if percents else 0.0
    return Utilization(highest_percent=round(highest, 1), highest_node=name, deviation_percent=round(deviation, 1))


def _requested(snapshot: Snapshot, node_name: str, resource: str) -> int:
    pods = snapshot.pods_by_node.get(node_name, ())
    return sum(pod.spec.requests.get(resource, 0) for pod in pods if not pod.is_terminal)
