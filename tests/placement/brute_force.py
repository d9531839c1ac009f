"""Small batches decided by brute force, to hold the joint verdicts of the landing prover against.

Feasibility is written down here once more, on plain facts and without the plugins. `python -m tests.placement.brute_force
--instances 2000` makes seeded instances, compares, and prints a table.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from random import Random

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import Pod
from descheduler.placement.landing import JointVerdict, LandingVerdict
from descheduler.placement.landing_prover import LandingProver
from descheduler.placement.scheduling import Scheduler
from descheduler.placement.shadow_cluster import ShadowCluster
from tests.builders import Object, make_node, make_pod, make_snapshot

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
APPS = ("web", "db", "job")


@dataclass(frozen=True)
class NodeFacts:
    """A node: `slots` is how many pods it takes, `taint` the value of its only taint, empty for none."""

    name: str
    zone: str
    cpu: int
    slots: int
    taint: str = ""
    is_cordoned: bool = False

    def domain(self, key: str) -> str:
        """The value of a topology key; empty where the node lacks it."""
        return self.name if key == HOSTNAME else self.zone


@dataclass(frozen=True)
class PodFacts:
    """A pod. Terms are (app that is meant, topology key); a spread is (app, topology key, maxSkew)."""

    name: str
    app: str
    cpu: int
    port: int = 0
    tolerates: str = ""
    zone: str = ""
    anti: tuple[str, str] | None = None
    affinity: tuple[str, str] | None = None
    spread: tuple[str, str, int] | None = None


Placed = tuple[tuple[PodFacts, NodeFacts], ...]


@dataclass(frozen=True)
class Instance:
    """A cluster: pods that stay and pods that are evicted together, each with its node."""

    nodes: tuple[NodeFacts, ...]
    stay: Placed
    leave: Placed


def fits(pod: PodFacts, node: NodeFacts, placed: Placed, nodes: Sequence[NodeFacts]) -> bool:
    """Whether the scheduler would put `pod` on `node`, where `placed` is all that is there."""
    here = [other for other, where in placed if where is node]
    if node.is_cordoned or (node.taint and node.taint != pod.tolerates) or (pod.zone and pod.zone != node.zone):
        return False
    if len(here) >= node.slots or (pod.cpu and sum(other.cpu for other in here) + pod.cpu > node.cpu):
        return False
    if pod.port and any(other.port == pod.port for other in here):
        return False
    return _likes(pod, node, placed) and _is_even(pod, node, placed, nodes)


def _likes(pod: PodFacts, node: NodeFacts, placed: Placed) -> bool:
    for other, where in placed:
        if pod.anti and other.app == pod.anti[0] and _together(node, where, pod.anti[1]):
            return False
        if other.anti and pod.app == other.anti[0] and _together(node, where, other.anti[1]):
            return False
    if pod.affinity is None:
        return True
    app, key = pod.affinity
    friends = [where for other, where in placed if other.app == app and where.domain(key)]
    if not friends:
        return pod.app == app and bool(node.domain(key))
    return any(_together(node, where, key) for where in friends)


def _together(one: NodeFacts, other: NodeFacts, key: str) -> bool:
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


def is_reachable(instance: Instance) -> bool:
    """Whether all that leave can come back, one after the other in some order, each on some node that takes it then."""
    start: frozenset[tuple[PodFacts, NodeFacts]] = frozenset()
    pods = [pod for pod, _ in instance.leave]
    frontier, seen = [start], {start}
    while frontier:
        state = frontier.pop()
        if len(state) == len(pods):
            return True
        placed = (*instance.stay, *state)
        gone = {pod for pod, _ in state}
        for pod in pods:
            if pod not in gone:
                for node in instance.nodes:
                    if fits(pod, node, placed, instance.nodes):
                        following = state | {(pod, node)}
                        if following not in seen:
                            seen.add(following)
                            frontier.append(following)
    return False


def make_instance(seed: int) -> Instance:
    """A random instance; every kind of constraint is in a good share of them."""
    random = Random(seed)
    zones = ("a", "b") if random.random() < 0.8 else ("a", "b", "")
    nodes = tuple(
        NodeFacts(
            f"n{index}",
            random.choice(zones),
            random.randint(2, 6),
            random.choice((1, 2, 3, 10)),
            random.choice(("", "", "", "gpu")),
            random.random() < 0.15,
        )
        for index in range(random.randint(2, 4))
    )
    flavours = random.sample(("anti", "affinity", "spread", "port", "zone"), random.randint(0, 3))
    templates = [_template(random, flavours) for _ in range(random.randint(1, 3))]
    leave, stay = [], []
    for index in range(random.randint(1, 4)):
        leave.append((_pod(f"v{index}", random.choice(templates)), random.choice(nodes)))
    for index in range(random.randint(0, 3)):
        stay.append((_pod(f"s{index}", random.choice(templates)), random.choice(nodes)))
    return Instance(nodes, tuple(stay), tuple(leave))


def _template(random: Random, flavours: Sequence[str]) -> dict[str, object]:
    def wanted(flavour: str) -> bool:
        return flavour in flavours and random.random() < 0.6

    app, key = random.choice(APPS), random.choice((HOSTNAME, ZONE))
    return {
        "app": app,
        "cpu": random.choice((0, 1, 1, 2, 3)),
        "tolerates": random.choice(("", "", "gpu")),
        "port": 80 if wanted("port") else 0,
        "zone": random.choice(("a", "b")) if wanted("zone") and random.random() < 0.4 else "",
        "anti": (random.choice((app, random.choice(APPS))), key) if wanted("anti") else None,
        "affinity": (random.choice((app, random.choice(APPS))), key) if wanted("affinity") else None,
        "spread": (random.choice((app, app, random.choice(APPS))), key, random.choice((1, 1, 2)))
        if wanted("spread")
        else None,
    }


def _pod(name: str, template: dict[str, object]) -> PodFacts:
    return PodFacts(name=name, **template)  # type: ignore[arg-type]


def snapshot_of(instance: Instance) -> Snapshot:
    """The cluster as Kubernetes objects would describe it."""
    nodes = [
        make_node(
            node.name,
            cpu=str(node.cpu),
            pods=str(node.slots),
            labels={ZONE: node.zone} if node.zone else {},
            taints=[f"pool={node.taint}:NoSchedule"] if node.taint else [],
            unschedulable=node.is_cordoned,
        )
        for node in instance.nodes
    ]
    return make_snapshot(nodes, [_model_pod(pod, node) for pod, node in (*instance.stay, *instance.leave)])


def _model_pod(pod: PodFacts, node: NodeFacts) -> Pod:
    spread = []
    if pod.spread:
        app, key, max_skew = pod.spread
        selector = {"matchLabels": {"app": app}}
        spread.append({"maxSkew": max_skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"})
        spread[0]["labelSelector"] = selector
    return make_pod(
        pod.name,
        node=node.name,
        cpu=str(pod.cpu) if pod.cpu else None,
        labels={"app": pod.app},
        owners=[f"ReplicaSet/{pod.name}"],
        node_selector={ZONE: pod.zone} if pod.zone else None,
        tolerations=[{"key": "pool", "value": pod.tolerates, "effect": "NoSchedule"}] if pod.tolerates else [],
        affinity=_affinity(pod),
        spread=spread,
        spec={"containers": [_container(pod)]},
    )


def _container(pod: PodFacts) -> Object:
    return {
        "name": "main",
        "resources": {"requests": {"cpu": str(pod.cpu)}} if pod.cpu else {},
        "ports": [{"containerPort": pod.port, "hostPort": pod.port, "protocol": "TCP"}] if pod.port else [],
    }


def _affinity(pod: PodFacts) -> Object | None:
    found = {}
    for name, term in (("podAntiAffinity", pod.anti), ("podAffinity", pod.affinity)):
        if term:
            selector = {"labelSelector": {"matchLabels": {"app": term[0]}}, "topologyKey": term[1]}
            found[name] = {"requiredDuringSchedulingIgnoredDuringExecution": [selector]}
    return found or None


def victims_of(instance: Instance, snapshot: Snapshot) -> list[Pod]:
    """The pods that leave, in order."""
    by_name = {pod.name: pod for pod in snapshot.pods}
    return [by_name[pod.name] for pod, _ in instance.leave]


def stuck_orders(snapshot: Snapshot, victims: Sequence[Pod]) -> Iterator[tuple[str, ...]]:
    """Orders in which the scheduler leaves some replacement without a node, by some breaking of ties.

    Each order is played through with every tie; a pod that does not fit is tried again after each that does.
    """
    cluster = ShadowCluster(snapshot)
    scheduler = Scheduler(cluster)
    for victim in victims:
        cluster.remove(victim)
    for order in permutations(victims):
        if not _all_land(cluster, scheduler, order):
            yield tuple(pod.name for pod in order)


def _all_land(cluster: ShadowCluster, scheduler: Scheduler, queue: Sequence[Pod]) -> bool:
    for position, pod in enumerate(queue):
        evaluation = scheduler.evaluate(_unbound(pod))
        choice = evaluation.choose()
        if choice is not None:
            rest = (*queue[:position], *queue[position + 1 :])
            for node in choice.ties:
                mark = cluster.mark()
                scheduler.place(evaluation, node)
                has_landed = _all_land(cluster, scheduler, rest)
                cluster.rollback(mark)
                if not has_landed:
                    return False
            return True
    return not queue


def _unbound(pod: Pod) -> Pod:
    return msgspec.structs.replace(pod, node_name="")


@dataclass(frozen=True)
class Comparison:
    """One instance by brute force and by the prover. `faults` says where they differ."""

    seed: int
    is_reachable: bool
    always_lands: bool
    joint: JointVerdict
    faults: tuple[str, ...]


def compare(seed: int) -> Comparison:
    """Decides the instance of this seed both ways."""
    instance = make_instance(seed)
    snapshot = snapshot_of(instance)
    victims = victims_of(instance, snapshot)
    prover = LandingProver(snapshot)
    joint = prover.prove(victims)
    can_land = is_reachable(instance)
    always_lands = next(stuck_orders(snapshot, victims), None) is None
    faults = []
    if (joint.verdict is not LandingVerdict.NO) is not can_land:
        faults.append(
            f"the verdict is {joint.verdict.value}, and an assignment {'exists' if can_land else 'is missing'}"
        )
    if (joint.verdict is LandingVerdict.LANDS) is not always_lands:
        faults.append(
            f"the verdict is {joint.verdict.value}, and {'every' if always_lands else 'not every'} order lands"
        )
    if joint.certificate and can_land:
        faults.append(f"the proof is wrong: {joint.certificate}")
    if can_land and not _is_assignment(instance, joint):
        faults.append("the landings shown are no assignment")
    return Comparison(seed, can_land, always_lands, joint, tuple(faults))


def _is_assignment(instance: Instance, joint: JointVerdict) -> bool:
    """Whether the landings of `joint` can be brought about one after the other."""
    nodes = {node.name: node for node in instance.nodes}
    waiting = [
        (pod, nodes.get(landing.node or "")) for (pod, _), landing in zip(instance.leave, joint.landings, strict=True)
    ]
    placed = instance.stay
    while waiting:
        step = next(((p, n) for p, n in waiting if n is not None and fits(p, n, placed, instance.nodes)), None)
        if step is None:
            return False
        waiting.remove(step)
        placed = (*placed, step)
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Compares as many instances as asked for; returns 1 when any differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=2000)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args(arguments)
    seeds = range(options.first_seed, options.first_seed + options.instances)
    comparisons = [compare(seed) for seed in seeds]
    counts = Counter(
        (c.joint.verdict.value, c.is_reachable, c.always_lands, bool(c.joint.certificate)) for c in comparisons
    )
    print("verdict   reachable  every order lands  certificate  instances")
    for (verdict, reachable, always, proven), number in sorted(counts.items()):
        print(f"{verdict:9} {reachable!s:10} {always!s:18} {proven!s:12} {number:9}")
    wrong = [comparison for comparison in comparisons if comparison.faults]
    for comparison in wrong:
        print(f"seed {comparison.seed}: {'; '.join(comparison.faults)}")
    print(f"{len(comparisons)} instances, {len(comparisons) - len(wrong)} agree")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
