"""`python -m tests.eviction.checks.random_gangs --worlds 10000`: gangs in random worlds, and what a run evicts of them.

A run asks for pods and whole bundles in random order, some of them evicted by an earlier round. After every grant the
members that run are counted again, in plain arithmetic: a gang has its minimum, or all of its group is gone at once,
with those that are on a node and do not run.
In some worlds gangs move whole (`onGangMinimum: evictGang`), and plugins ask pod by pod.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.model.groups.workloads import Workload
from descheduler.model.koordinator.gang_settings import PodGroup
from descheduler.model.pod import Pod
from descheduler.plan.bundles import Candidate
from descheduler.plan.moves import Move
from tests.builders import Object, make_node, make_snapshot
from tests.eviction.runs import Run, make_run
from tests.placement.plugins.coscheduling.worlds import group_of, member

_POLICIES = ("once-satisfied", "only-waiting", "waiting-and-running")
_PHASES = ("Running",) * 6 + ("Succeeded", "Pending")


def _policy(on_minimum: str) -> Object:
    migration = {"skipCheckExpectedReplicas": True, "maxMigratingPerNode": 100}
    arguments = {"MigrationController": migration, "PlacementVerification": {"onGangMinimum": on_minimum}}
    configs = [{"name": name, "args": args} for name, args in arguments.items()]
    return {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerConfiguration",
        "profiles": [{"name": "p", "pluginConfig": configs}],
    }


@dataclass(frozen=True)
class World:
    """Pods of gangs, what is asked for in which order, and what is gone already."""

    pods: Sequence[Pod]
    groups: Sequence[PodGroup]
    minimum: Mapping[str, int]
    gang_of: Mapping[str, str]
    is_group: bool
    bundles: Sequence[Sequence[Pod]]
    gone: Sequence[Pod]
    on_minimum: str

    def run(self) -> Run:
        """A run over it on two nodes, one of which may be too small."""
        owners = {pod.owners[0].uid: pod.owners[0].name for pod in self.pods}
        workloads = {uid: Workload("ReplicaSet", "default", name, uid, 10) for uid, name in owners.items()}
        nodes = [make_node("old", cpu="20", unschedulable=True), make_node("new", cpu="6")]
        snapshot = make_snapshot(nodes, self.pods, pod_groups=tuple(self.groups), workloads=workloads)
        return make_run(_policy(self.on_minimum), snapshot, prior_moves=[Move(pod, "p", "q") for pod in self.gone])


def make_world(generator: Random) -> World:
    """One of at most three gangs."""
    minimum = {f"g{index}": generator.randint(1, 4) for index in range(generator.randint(1, 3))}
    is_group = generator.random() < 0.3
    names = tuple(minimum) if is_group else ()
    groups = [group_of(name, least, generator.choice(_POLICIES), groups=names) for name, least in minimum.items()]
    gang_of, pods = {}, []
    for index in range(generator.randint(1, 9)):
        name, gang, phase = f"p{index}", generator.choice((*minimum, *minimum, "")), generator.choice(_PHASES)
        gang_of[name] = gang
        is_waiting = phase == "Pending" and generator.random() < 0.5
        pods.append(member(name, gang, phase=phase, node="" if is_waiting else "old"))
    on_nodes = [pod for pod in pods if pod.node_name]
    gone = [pod for pod in on_nodes if generator.random() < 0.1]
    bundles = list(_bundles(on_nodes, gang_of, generator))
    return World(pods, groups, minimum, gang_of, is_group, bundles, gone, generator.choice(("refuse", "evictGang")))


def _bundles(pods: Sequence[Pod], gang_of: Mapping[str, str], generator: Random) -> Iterator[Sequence[Pod]]:
    """Single pods, any pods together, and all pods of some gangs."""
    for _ in range(6):
        gangs = generator.sample(sorted(set(gang_of.values())), generator.randint(1, len(set(gang_of.values()))))
        of_gangs = [pod for pod in pods if gang_of[pod.name] in gangs]
        bundle = generator.choice((of_gangs, generator.sample(pods, min(len(pods), generator.randint(1, 3))), pods[:1]))
        if bundle:
            yield bundle


def faults_of(world: World) -> list[str]:
    """Each grant that left a gang with too few pods."""
    run = world.run()
    evictor = PluginEvictor(run.evictor, profile="p", plugin="q", filters=(), pre_eviction_filters=())
    evicted = {pod.uid for pod in world.gone}
    faults: list[str] = []
    for bundle in world.bundles:
        before = evicted.copy()
        if evictor.request_all(map(Candidate, bundle)).is_accepted:
            evicted |= {move.pod.uid for move in run.evictor.book.moves} | {pod.uid for pod in bundle}
            faults += _faults(world, before, evicted)
    return faults


def _left(world: World, evicted: set[str], *phases: str) -> Counter[str]:
    """How many pods of each gang are on a node in one of `phases`."""
    pods = (pod for pod in world.pods if pod.phase in phases and pod.node_name and pod.uid not in evicted)
    return Counter(world.gang_of[pod.name] for pod in pods)


def _faults(world: World, evicted_before: set[str], evicted: set[str]) -> Iterator[str]:
    before, after = (_left(world, uids, "Running", "Pending") for uids in (evicted_before, evicted))
    running = _left(world, evicted, "Running")
    for gang, least in world.minimum.items():
        group = tuple(world.minimum) if world.is_group else (gang,)
        is_whole = all(after[each] == 0 for each in group)
        if after[gang] < before[gang] and running[gang] < least and not is_whole:
            yield f"gang {gang} has {running[gang]} running pods left and needs {least}"


def main() -> int:
    """Goes through random worlds; 1 if any has a fault."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    num_faults = 0
    for number in range(options.worlds):
        for fault in faults_of(make_world(Random(f"{options.seed}/{number}"))):
            num_faults += 1
            print(f"world {number}: {fault}")
    print(f"{options.worlds} worlds, {num_faults} faults")
    return 1 if num_faults else 0


if __name__ == "__main__":
    sys.exit(main())
