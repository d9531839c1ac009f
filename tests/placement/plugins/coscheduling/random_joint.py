"""`python -m tests.placement.plugins.coscheduling.random_joint --worlds 2000`: batches with gangs, by brute force.

Of each small world it is found out by trying everything whether the replacements of a batch can all be bound, and
whether they are in whatever order they come: pods of one group one after the other, in any order among themselves, on
any node of the best score. Who waits for whom is counted here once more, without the product's own counts.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from itertools import permutations
from random import Random

import msgspec

from descheduler.model.koordinator.gang_settings import PodGroup
from descheduler.model.pod import Pod
from descheduler.placement.framework.scheduling_plugin import annotations_read_by
from descheduler.placement.landings.landing import JointVerdict, LandingVerdict
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.schedulers.schedulers import Schedulers
from descheduler.placement.shadow.shadow_cluster import Company, ShadowCluster
from tests.builders import make_snapshot
from tests.placement.plugins.coscheduling.worlds import CONFIGURATION, group_of, member, nodes_of, prover_of

_POLICIES = ("once-satisfied", "only-waiting", "waiting-and-running")
LANDS, LANDS_IF, NO = LandingVerdict.LANDS, LandingVerdict.LANDS_IF, LandingVerdict.NO


@dataclass(frozen=True)
class World:
    """Nodes of `cpus` cores beside the cordoned one of all pods; `leaving` are those that are evicted together.

    `gang_of` and `cpu_of` are by name, a pod without a gang being in `""`; `rules` has minimum and policy of each gang,
    and `is_group` says that they are one group.
    """

    cpus: Sequence[int]
    pods: Sequence[Pod]
    leaving: Sequence[Pod]
    gang_of: Mapping[str, str]
    cpu_of: Mapping[str, int]
    rules: Mapping[str, tuple[int, str]]
    is_group: bool

    @property
    def groups(self) -> list[PodGroup]:
        """The PodGroups."""
        names = tuple(self.rules) if self.is_group else ()
        return [group_of(name, minimum, policy, groups=names) for name, (minimum, policy) in self.rules.items()]

    def verdict(self) -> JointVerdict:
        """What the product says."""
        return prover_of(nodes_of(*self.cpus), self.pods, self.groups).prove(self.leaving)

    def unit_of(self, name: str) -> object:
        """Whom a pod is tried with; itself for one without a gang."""
        gang = self.gang_of[name]
        return ("group" if self.is_group else gang) if gang else (name,)


def make_world(generator: Random) -> World:
    """One of at most two gangs and five pods that leave."""
    rules = {
        f"g{index}": (generator.randint(1, 4), generator.choice(_POLICIES)) for index in range(generator.randint(0, 2))
    }
    gangs = [*rules, ""]
    cpu_of, gang_of = {}, {}
    for index in range(generator.randint(1, 6)):
        cpu_of[f"p{index}"] = generator.choice((1, 1, 2, 3))
        gang_of[f"p{index}"] = generator.choice(gangs)
    pods = [member(name, gang_of[name], cpu=str(cpu)) for name, cpu in cpu_of.items()]
    leaving = generator.sample(pods, generator.randint(1, min(4, len(pods))))
    cpus = [generator.randint(1, 5) for _ in range(generator.randint(1, 3))]
    return World(cpus, pods, leaving, gang_of, cpu_of, rules, generator.random() < 0.4)


def faults_of(world: World) -> list[str]:
    """In what the product's verdict is at odds with what brute force finds."""
    verdict = world.verdict()
    leaving = [pod.name for pod in world.leaving]
    release = release_of(world.gang_of, leaving, world.rules, is_group=world.is_group)
    can_land = release is not Release.NOT_ALL and _is_assignable(world)
    faults = []
    if _goes_by_order(world) or release is Release.BY_TIMING:
        said = verdict.verdict
        is_fault = said in (LANDS, LANDS_IF) or (said is NO and can_land)
        return [f"{said.value}, but that goes by order or timing"] if is_fault else []
    if (verdict.verdict is NO) is can_land:
        faults.append(f"{verdict.verdict.value}, but an assignment {'exists' if can_land else 'does not exist'}")
    if verdict.verdict is LANDS and not _lands_in_every_order(world):
        faults.append("lands, but not in every order")
    if verdict.certificate and can_land:
        faults.append(f"a proof of what is not so: {verdict.certificate}")
    return faults


def _goes_by_order(world: World) -> bool:
    """Whether some of what leaves comes back pod by pod, and some of the same group all at once."""
    gangs = {world.gang_of[pod.name] for pod in world.leaving} - {""}
    return world.is_group and len({world.rules[gang][1] == "once-satisfied" for gang in gangs}) == 2


class Release(Enum):
    """Which pods that come back are bound, if each finds a node."""

    ALL = "all"
    BY_TIMING = "by timing"
    """Some for certain; others come too late or just in time to be let go with them."""
    NOT_ALL = "not all"


def release_of(
    gang_of: Mapping[str, str], leaving: Sequence[str], rules: Mapping[str, tuple[int, str]], *, is_group: bool
) -> Release:
    """Which are bound: gangs are counted as their pods come. Pods are named; the rest is as in `World`."""
    units: dict[str, list[str]] = {}
    for name in leaving:
        if gang := gang_of[name]:
            units.setdefault("" if is_group else gang, []).append(gang)
    running = Counter(gang for name, gang in gang_of.items() if name not in leaving)
    known = {gang for gang in gang_of.values() if gang}
    found = {
        _release_of_unit(unit, tuple(rules) if is_group else (unit[0],), running, rules, known)
        for unit in units.values()
    }
    if Release.NOT_ALL in found:
        return Release.NOT_ALL
    return Release.BY_TIMING if Release.BY_TIMING in found else Release.ALL


def _release_of_unit(
    unit: Sequence[str],
    group: Sequence[str],
    running: Counter[str],
    rules: Mapping[str, tuple[int, str]],
    known: AbstractSet[str],
) -> Release:
    satisfied = any(gang in group for gang in known)
    bound, held, left = Counter(running), Counter[str](), list(unit)

    def is_valid(gang: str) -> bool:
        minimum, policy = rules[gang]
        if policy == "once-satisfied":
            return satisfied or held[gang] >= minimum
        return held[gang] + (bound[gang] if policy == "waiting-and-running" else 0) >= minimum

    while left:
        existing = Counter(bound)
        existing.update(left)
        lone = rules[left[0]][1] == "once-satisfied" and satisfied
        if not lone and any(existing[gang] < rules[gang][0] for gang in group):
            return Release.NOT_ALL
        for place, gang in enumerate(left):
            held[gang] += 1
            if all(map(is_valid, group)):
                bound.update(held)
                held.clear()
                left = left[place + 1 :]
                break
        else:
            return Release.NOT_ALL if len(left) == len(unit) else Release.BY_TIMING
    return Release.ALL


def _is_assignable(world: World) -> bool:
    """Whether all that come back fit somewhere at the same time."""

    def fits(sizes: Sequence[int], free: Sequence[int]) -> bool:
        if not sizes:
            return True
        first, rest = sizes[0], sizes[1:]
        return any(
            fits(rest, (*free[:node], room - first, *free[node + 1 :]))
            for node, room in enumerate(free)
            if room >= first
        )

    return fits(sorted((world.cpu_of[pod.name] for pod in world.leaving), reverse=True), tuple(world.cpus))


def _lands_in_every_order(world: World) -> bool:
    snapshot = make_snapshot(nodes_of(*world.cpus), world.pods, pod_groups=tuple(world.groups))
    cluster = ShadowCluster(snapshot, reads_annotations=annotations_read_by(PLUGINS.values()))
    schedulers = Schedulers(cluster, CONFIGURATION, plugins=PLUGINS)
    for pod in world.leaving:
        cluster.remove(pod)
    coming = [msgspec.structs.replace(pod, node_name="") for pod in world.leaving]
    seen = set()
    for order in _orders(world, coming):
        shape = tuple((world.gang_of[pod.name], world.cpu_of[pod.name]) for pod in order)
        if shape not in seen:
            seen.add(shape)
            if not _lands(order, cluster, schedulers):
                return False
    return True


def _orders(world: World, coming: Sequence[Pod]) -> Iterator[tuple[Pod, ...]]:
    """Those in which the pods of a unit follow one another."""
    for order in permutations(coming):
        units = [world.unit_of(pod.name) for pod in order]
        changes = [unit for place, unit in enumerate(units) if not place or units[place - 1] != unit]
        if len(changes) == len(set(changes)):
            yield order


def _lands(order: Sequence[Pod], cluster: ShadowCluster, schedulers: Schedulers) -> bool:
    """Whether each finds a node, whatever ties are broken how."""
    if not order:
        return True
    pod, rest = order[0], order[1:]
    scheduler = schedulers.scheduler_of(pod)
    evaluation = scheduler.evaluate(pod, Company(tuple(order)) if scheduler.unit_of(pod) else None)
    choice = evaluation.choose()
    if choice is None:
        return False
    for node in choice.ties:
        with cluster.what_if():
            scheduler.place(evaluation, node)
            if not _lands(rest, cluster, schedulers):
                return False
    return True


def main() -> int:
    """Goes through random worlds; 1 if any has a fault."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    verdicts: Counter[str] = Counter()
    num_faults = 0
    for number in range(options.worlds):
        world = make_world(Random(f"{options.seed}/{number}"))
        verdicts[world.verdict().verdict.value] += 1
        for fault in faults_of(world):
            num_faults += 1
            print(f"world {number}: {fault}")
    print(f"{options.worlds} worlds, {num_faults} faults; verdicts {dict(verdicts)}")
    return 1 if num_faults else 0


if __name__ == "__main__":
    sys.exit(main())
