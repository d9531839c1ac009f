"""`python -m tests.placement.batches.random_koordinator_batches --instances 2000`: joint verdicts by brute force.

Small batches with devices, quotas, gangs and Reservations. All orders, nodes and ties are tried on a shadow cluster of
their own, pods of one gang group after one another. Without Reservations it is
also found out from bare facts whether devices and quotas have room for all, and who waits for whom is counted as for
`random_joint`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

import msgspec

from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import JointVerdict, LandingVerdict
from descheduler.placement.shadow.shadow_cluster import Company
from tests.placement.batches.small_koordinator_batches import OLD, Batch, PodFacts, make_batch
from tests.placement.plugins.coscheduling.random_joint import Release, release_of
from tests.placement.plugins.reservation.worlds import World, prover_of
from tests.placement.workloads import workload_object

LANDS, LANDS_IF, NO = LandingVerdict.LANDS, LandingVerdict.LANDS_IF, LandingVerdict.NO
_State = tuple[tuple[int, tuple[int, ...]], ...]
"""Free cores of each node, and the free percents of its GPUs."""


def compare(seed: int) -> tuple[JointVerdict, list[str]]:
    """What the product says of the batch of this seed, and where that is at odds with brute force."""
    batch = make_batch(seed)
    joint = _verdict(batch)
    can_land, always = _search(batch)
    release = _release(batch)
    if release is Release.BY_TIMING:
        is_fault = joint.verdict in (LANDS, LANDS_IF) or (joint.verdict is NO and can_land)
        return joint, [f"{joint.verdict.value}, but that goes by timing"] if is_fault else []
    is_released = release is Release.ALL
    can_land, always = can_land and is_released, always and is_released
    faults = []
    if (joint.verdict is NO) is can_land:
        faults.append(f"{joint.verdict.value}, but a sequence {'exists' if can_land else 'does not exist'}")
    if joint.verdict is LANDS and not always:
        faults.append("lands, but not in every order")
    if not batch.reservations:
        faults += _faults_by_facts(batch, joint, can_land=can_land)
    return joint, faults


def _faults_by_facts(batch: Batch, joint: JointVerdict, *, can_land: bool) -> Iterator[str]:
    is_assignable = _is_assignable(batch)
    if can_land and not is_assignable:
        yield "a sequence lands all, but there is no room for that"
    if joint.certificate and is_assignable and _release(batch) is Release.ALL:
        yield f"a proof of what is not so: {joint.certificate}"


def _verdict(batch: Batch) -> JointVerdict:
    pods = [pod.on(OLD) for pod in batch.pods]
    workloads = [workload_object(f"ReplicaSet/{pod['metadata']['name']}", template=pod) for pod in pods]
    prover = prover_of(*batch.objects(), *pods, *workloads)
    by_name = {pod.name: pod for pod in prover.cluster.snapshot.pods}
    return prover.prove([by_name[pod.name] for pod in batch.leaving])


def _search(batch: Batch) -> tuple[bool, bool]:
    """Whether some sequence of placements lands all that come back, and whether all sequences of the scheduler do."""
    world = World([*batch.objects(), *(pod.on(OLD) for pod in batch.pods)])
    for pod in batch.leaving:
        world.cluster.remove(world.pods[pod.name])
    coming = {pod.name: msgspec.structs.replace(world.pods[pod.name], node_name="") for pod in batch.leaving}
    orders = [[coming[pod.name] for pod in order] for order in _orders(batch)]
    return any(_can_land(world, order) for order in orders), all(_lands(world, order) for order in orders)


def _orders(batch: Batch) -> Iterator[tuple[PodFacts, ...]]:
    """Those in which the pods of a unit follow one another."""
    for order in permutations(batch.leaving):
        units = [batch.unit_of(pod) for pod in order]
        changes = [unit for place, unit in enumerate(units) if not place or units[place - 1] != unit]
        if len(changes) == len(set(changes)):
            yield order


def _can_land(world: World, order: Sequence[Pod]) -> bool:
    """Whether each finds some node that takes it, whatever the scheduler prefers."""
    return not order or any(_places(world, order, both=True))


def _lands(world: World, order: Sequence[Pod]) -> bool:
    """Whether each finds a node, whatever ties are broken how."""
    if not order:
        return True
    outcomes = list(_places(world, order, both=False))
    return bool(outcomes) and all(outcomes)


def _places(world: World, order: Sequence[Pod], *, both: bool) -> Iterator[bool]:
    pod, rest = order[0], order[1:]
    company = Company(tuple(order)) if world.scheduler.unit_of(pod) else None
    evaluation = world.scheduler.evaluate(pod, company)
    choice = evaluation.choose()
    for node in () if choice is None else evaluation.nodes.tolist() if both else choice.ties:
        with world.cluster.what_if():
            world.scheduler.place(evaluation, node)
            yield _can_land(world, rest) if both else _lands(world, rest)


def _release(batch: Batch) -> Release:
    """Who is let go at Permit, if each finds a node."""
    gang_of = {pod.name: pod.gang for pod in batch.pods}
    leaving = [pod.name for pod in batch.leaving]
    return release_of(gang_of, leaving, batch.gangs, is_group=batch.is_group)


def _is_assignable(batch: Batch) -> bool:
    """Whether cores, GPUs and quotas have room for all at the same time, whatever minors each gets."""
    used = Counter[str]()
    for pod in batch.pods:
        used[pod.quota] += pod.cpu
    if any(used[pod.quota] > batch.quotas[pod.quota] for pod in batch.leaving if pod.quota):
        return False
    state = tuple((cpu, (100,) * num_gpus) for cpu, num_gpus in batch.nodes)
    return _fits(batch.leaving, state)


def _fits(pods: Sequence[PodFacts], state: _State) -> bool:
    if not pods:
        return True
    for node, (cpu, gpus) in enumerate(state):
        if cpu >= pods[0].cpu:
            for left in set(_gpus_left(pods[0].percent, gpus)):
                if _fits(pods[1:], (*state[:node], (cpu - pods[0].cpu, left), *state[node + 1 :])):
                    return True
    return False


def _gpus_left(percent: int, gpus: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """What may be left of the GPUs of a node once it takes `percent` of one, or several whole ones."""
    number, share = (percent // 100, 100) if percent > 100 else (1, percent)
    for chosen in combinations(range(len(gpus)), number) if percent else [()]:
        if all(gpus[minor] >= share for minor in chosen):
            yield tuple(free - share * (minor in chosen) for minor, free in enumerate(gpus))


def main(arguments: Sequence[str] | None = None) -> int:
    """Compares as many instances as asked for; returns 1 when any differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=2000)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args(arguments)
    verdicts, num_faults = Counter[str](), 0
    for seed in range(options.first_seed, options.first_seed + options.instances):
        joint, faults = compare(seed)
        verdicts[joint.verdict.value] += 1
        num_faults += bool(faults)
        for fault in faults:
            print(f"seed {seed}: {fault}")
    print(f"{options.instances:,} instances, {num_faults} with faults; verdicts {dict(verdicts)}")
    return bool(num_faults)


if __name__ == "__main__":
    sys.exit(main())
