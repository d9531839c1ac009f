"""Small batches decided by brute force, to hold the joint verdicts of the landing prover against.

Feasibility is written down here once more, on plain facts and without the plugins.
`python -m tests.placement.batches.brute_force --instances 2000` makes seeded instances, compares, and prints a table.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import Pod
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.landings.landing import JointVerdict, LandingVerdict
from descheduler.placement.prover import LandingProver
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.placement.batches.small_batches import (
    Instance,
    NodeFacts,
    Placed,
    PodFacts,
    make_instance,
    snapshot_of,
    victims_of,
)
from tests.placement.default_scheduler import default_scheduler


def fits(pod: PodFacts, node: NodeFacts, placed: Placed, nodes: Sequence[NodeFacts]) -> bool:
    """Whether the scheduler may put `pod` on `node`, where `placed` is all that is there."""
    here = [other for other, where in placed if where is node]
    if node.is_cordoned or (node.taint and node.taint != pod.tolerates) or (pod.zone and pod.zone != node.zone):
        return False
    if len(here) >= node.slots or (pod.cpu and sum(other.cpu for other in here) + pod.cpu > node.cpu):
        return False
    if pod.port and any(other.port == pod.port for other in here):
        return False
    return _is_liked(pod, node, placed) and _is_even(pod, node, placed, nodes)


def _is_liked(pod: PodFacts, node: NodeFacts, placed: Placed) -> bool:
    for other, where in placed:
        if pod.anti and other.app == pod.anti[0] and _are_together(node, where, pod.anti[1]):
            return False
        if other.anti and pod.app == other.anti[0] and _are_together(node, where, other.anti[1]):
            return False
    if pod.affinity is None:
        return True
    app, key = pod.affinity
    friends = [where for other, where in placed if other.app == app and where.domain(key)]
    if not friends:
        return pod.app == app and bool(node.domain(key))
    return any(_are_together(node, where, key) for where in friends)


def _are_together(one: NodeFacts, other: NodeFacts, key: str) -> bool:
    return bool(one.domain(key)) and one.domain(key) == other.domain(key)


def _is_even(pod: PodFacts, node: NodeFacts, placed: Placed, nodes: Sequence[NodeFacts]) -> bool:
    if pod.spread is None:
        return True
    app, key, max_skew = pod.spread
    if not node.domain(key):
        return False
    eligible = [each for each in nodes if each.domain(key) and (not pod.zone or each.zone == pod.zone)]
    counts = Counter({each.domain(key): 0 for each in eligible})
    for other, where in placed:
        if other.app == app and where in eligible:
            counts[where.domain(key)] += 1
    least = min(counts.values(), default=0)
    return counts[node.domain(key)] + (pod.app == app) - least <= max_skew


def has_assignment(instance: Instance) -> bool:
    """Whether all that leave can come back, one after the other in some order, each on some node that takes it then."""
    start: frozenset[tuple[PodFacts, NodeFacts]] = frozenset()
    pods = [pod for pod, _ in instance.leave]
    frontier, seen = [start], {start}
    while frontier:
        state = frontier.pop()
        if len(state) == len(pods):
            return True
        gone = {pod for pod, _ in state}
        for pod in pods:
            for node in instance.nodes if pod not in gone else ():
                following = state | {(pod, node)}
                if following not in seen and fits(pod, node, (*instance.stay, *state), instance.nodes):
                    seen.add(following)
                    frontier.append(following)
    return False


def every_order_lands(snapshot: Snapshot, victims: Sequence[Pod]) -> bool:
    """Whether the scheduler lands all replacements in every order of them, and by every breaking of ties.

    A pod that does not fit is tried again after each that does.
    """
    cluster = ShadowCluster(snapshot)
    scheduler = default_scheduler(cluster)
    for victim in victims:
        cluster.remove(victim)
    replacements = [msgspec.structs.replace(victim, node_name="") for victim in victims]
    return all(_lands(cluster, scheduler, order) for order in permutations(replacements))


def _lands(cluster: ShadowCluster, scheduler: Scheduler, queue: Sequence[Pod]) -> bool:
    for position, pod in enumerate(queue):
        evaluation = scheduler.evaluate(pod)
        choice = evaluation.choose()
        if choice is None:
            continue
        rest = (*queue[:position], *queue[position + 1 :])
        for node in choice.ties:
            with cluster.what_if():
                scheduler.place(evaluation, node)
                has_landed = _lands(cluster, scheduler, rest)
            if not has_landed:
                return False
        return True
    return not queue


@dataclass(frozen=True)
class Comparison:
    """One instance by brute force and by the prover. `faults` says where they differ."""

    seed: int
    has_assignment: bool
    every_order_lands: bool
    joint: JointVerdict
    faults: tuple[str, ...]


def compare(seed: int) -> Comparison:
    """Decides the instance of this seed both ways."""
    instance = make_instance(seed)
    snapshot = snapshot_of(instance)
    victims = victims_of(instance, snapshot)
    joint = LandingProver(snapshot).prove(victims)
    exists, always = has_assignment(instance), every_order_lands(snapshot, victims)
    faults = []
    if (joint.verdict is not LandingVerdict.NO) is not exists:
        faults.append(f"{joint.verdict.value}, and {'an' if exists else 'no'} assignment exists")
    if (joint.verdict is LandingVerdict.LANDS) is not always:
        faults.append(f"{joint.verdict.value}, and {'every' if always else 'not every'} order lands")
    if joint.certificate and exists:
        faults.append(f"the proof is wrong: {joint.certificate}")
    if exists and not _is_assignment(instance, joint):
        faults.append("the landings shown are no assignment")
    return Comparison(seed, exists, always, joint, tuple(faults))


def _is_assignment(instance: Instance, joint: JointVerdict) -> bool:
    """Whether the landings of `joint` can be brought about one after the other in some order."""
    nodes = {node.name: node for node in instance.nodes}
    pods = (pod for pod, _ in instance.leave)
    steps = [(pod, nodes.get(landing.node or "")) for pod, landing in zip(pods, joint.landings, strict=True)]
    return any(_is_sequence(instance, order) for order in permutations(steps))


def _is_sequence(instance: Instance, steps: Sequence[tuple[PodFacts, NodeFacts | None]]) -> bool:
    placed = instance.stay
    for pod, node in steps:
        if node is None or not fits(pod, node, placed, instance.nodes):
            return False
        placed = (*placed, (pod, node))
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Compares as many instances as asked for; returns 1 when any differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=2000)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args(arguments)
    comparisons = [compare(options.first_seed + number) for number in range(options.instances)]
    rows = Counter(
        (each.joint.verdict.value, each.has_assignment, each.every_order_lands, bool(each.joint.certificate))
        for each in comparisons
    )
    print("verdict   assignment exists  every order lands  certificate  instances")
    for (verdict, exists, always, proven), number in sorted(rows.items()):
        print(f"{verdict:9} {exists!s:18} {always!s:18} {proven!s:12} {number:9}")
    wrong = [comparison for comparison in comparisons if comparison.faults]
    for comparison in wrong:
        print(f"seed {comparison.seed}: {'; '.join(comparison.faults)}")
    print(f"{len(comparisons)} instances, {len(comparisons) - len(wrong)} agree")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
