"""`python -m tests.placement.plugins.reservation.random_worlds --worlds N`: laws of Reservations in random clusters.

* A node takes a pod exactly where the reference (§3.6) says so, as computed here from bare facts.
* Without a condition no pod gets more than the node has, nor more than is left of its Reservation and free beside it.
* Placed pods that are taken off in any order leave every column, counter and ledger as it was.
* Placing a pod changes answers about others on its own node only, and opens it only to pods that `can_be_helped`.
* What `prove` says of pods that leave together holds for all orders and breakings of ties (`LANDS`) or none (`NO`).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from random import Random

from descheduler.model.pod import Pod
from descheduler.placement.framework.attempt import put_on_node
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.plugins.reservation.holdings import HeldReservation
from descheduler.placement.shadow.node_table import CPU_ROW
from descheduler.placement.shadow.shadow_cluster import Placed
from tests.builders import Object
from tests.placement.plugins.reservation.worlds import World, koord_pod, nodes, prover_of, reservation_object
from tests.placement.workloads import workload_object

_APPS = ("a", "b")
_AFFINITY = {"scheduling.koordinator.sh/reservation-affinity": "{}"}
_ORDER = "scheduling.koordinator.sh/reservation-order"
_POLICIES = ("", "Aligned", "Restricted")


def reservations(draw: Random, names: Sequence[str], *, most: int) -> list[Object]:
    """Up to `most` Reservations on nodes of these names, of one policy a cluster or of Aligned and Restricted."""
    policies = draw.choice([("",), ("Aligned", "Restricted")])
    return [
        reservation_object(
            f"r{index}",
            node=draw.choice(names),
            cpu=str(draw.randint(1, 4)),
            app=draw.choice(_APPS),
            labels={_ORDER: str(draw.randint(1, 3))} if draw.random() < 0.2 else {},
            allocateOnce=draw.random() < 0.5,
            allocatePolicy=draw.choice(policies),
            unschedulable=draw.random() < 0.1,
        )
        for index in range(draw.randint(0, most))
    ]


def running(draw: Random, held: Sequence[Object], names: Sequence[str]) -> Iterator[Object]:
    """Pods on nodes, some of which own a Reservation that is for many."""
    for index in range(draw.randint(0, 2)):
        yield koord_pod(f"other{index}", app="x", node=draw.choice(names), cpu=str(draw.randint(1, 2)))
    for each in held:
        if not each["spec"]["allocateOnce"] and draw.random() < 0.4:
            app = each["spec"]["owners"][0]["labelSelector"]["matchLabels"]["app"]
            name, node = each["metadata"]["name"], each["status"]["nodeName"]
            yield koord_pod(f"owner-{name}", app=app, node=node, cpu=str(draw.randint(1, 3)), uses=name)


def waiting(draw: Random) -> list[Object]:
    """Pods without a node."""
    return [
        koord_pod(
            f"p{index}",
            app=draw.choice(_APPS),
            cpu=str(draw.randint(1, 4)),
            annotations=_AFFINITY if draw.random() < 0.2 else {},
            labels={"scheduling.koordinator.sh/reservation-ignored": "true"} if draw.random() < 0.1 else {},
        )
        for index in range(draw.randint(1, 4))
    ]


def check_world(seed: int) -> None:
    """Asserts the laws about single pods in the world of `seed`."""
    draw = Random(seed)
    names = [f"n{index}" for index in range(draw.randint(1, 3))]
    held = reservations(draw, names, most=4)
    objects = [*nodes(**{name: str(draw.randint(4, 9)) for name in names}), *held, *running(draw, held, names)]
    pods = waiting(draw)
    world = World([*objects, *pods])
    in_line = [world.pods[each["metadata"]["name"]] for each in pods]
    for pod in in_line:
        world.evaluate(pod)
    before = world.cluster.digest()
    placed = [each for pod in in_line if (each := _place(world, pod, in_line, draw)) is not None]
    draw.shuffle(placed)
    for each in placed:
        world.cluster.take_off(each)
    assert world.cluster.digest() == before, "taking pods off does not restore the digest"


def _place(world: World, pod: Pod, others: Sequence[Pod], draw: Random) -> Placed | None:
    """Puts `pod` on any node that takes it, if any, and asserts what has to hold of that."""
    evaluation = world.evaluate(pod)
    found = set(evaluation.nodes.tolist())
    assert found == {node for node in range(len(world.cluster.table)) if _is_taken(world, pod, node)}, pod.name
    if not found:
        return None
    node = draw.choice(sorted(found))
    before = {other.name: world.evaluate(other).feasible for other in others}
    free, left = _free(world, node), {each.name: each.gap(CPU_ROW) for each in world.held.values()}
    unheld = free - sum(max(0, each.gap(CPU_ROW)) for each in world.held.values() if _is_on(each, node))
    placement = put_on_node(evaluation, node)
    asked = _cpu(pod)
    used = [taken.held.name for _, taken in placement.placed.takings if hasattr(taken, "held")]
    if not placement.conditions:
        assert asked <= free, f"{pod.name} gets more than the node has"
        overcommitted = any(each.gap(CPU_ROW) < 0 for each in world.held.values())
        if used and not overcommitted and left[used[0]] >= 0:
            assert asked <= max(0, left[used[0]]) + max(0, unheld), (
                f"{pod.name} gets more than what is left of {used[0]}"
            )
    for other in others:
        _check_interactions(world, other, before[other.name], node)
    return placement.placed


def _check_interactions(world: World, other: Pod, before: object, node: int) -> None:
    after = world.evaluate(other).feasible
    changed = after != before
    changed[node] = False
    assert not changed.any(), f"{other.name} is answered otherwise on another node"
    if after[node] and not before[node]:  # type: ignore[index]
        assert world.scheduler.can_be_helped(other), f"{other.name} is helped"


def _is_taken(world: World, pod: Pod, node: int) -> bool:
    """§3.6, from what is on the node and what Reservations hold there."""
    asked, free = _cpu(pod), _free(world, node)
    active = [each for each in world.held.values() if _is_on(each, node)]
    is_ignoring = "scheduling.koordinator.sh/reservation-ignored" in pod.labels
    needs_one = bool(pod.annotations)
    usable = [each for each in active if is_ignoring or _is_for(each, pod)]
    if needs_one and not usable:
        return False
    room = free - sum(each.gap(CPU_ROW) for each in active if each not in usable)
    if asked > room:
        return False
    if is_ignoring or not usable:
        return True
    beside = room - sum(each.gap(CPU_ROW) for each in usable)
    fits_beside = [asked <= beside + max(0, each.gap(CPU_ROW)) for each in usable]
    fits_inside = [each.reservation.allocate_policy != "Restricted" or asked <= each.gap(CPU_ROW) for each in usable]
    if any(beside and inside for beside, inside in zip(fits_beside, fits_inside, strict=True)):
        return True
    return not needs_one and all(fits_beside) and asked <= beside


def _is_for(held: HeldReservation, pod: Pod) -> bool:
    owner = held.reservation.owners[0].selector
    return owner is not None and owner.matches(pod.labels) and not held.reservation.unschedulable


def _is_on(held: HeldReservation, node: int) -> bool:
    return held.node == node and not (held.reservation.allocate_once and held.num_owners)


def _free(world: World, node: int) -> int:
    table = world.cluster.table
    return int(table.allocatable[CPU_ROW, node] - table.requested[CPU_ROW, node])


def _cpu(pod: Pod) -> int:
    return pod.spec.requests["cpu"] // 10**6


def check_batch(seed: int) -> LandingVerdict:
    """Asserts that the joint verdict on two or three pods holds against all orders; returns it."""
    draw = Random(seed)
    names = [f"n{index}" for index in range(2)]
    held = reservations(draw, names, most=3)
    objects = [*nodes(**{name: str(draw.randint(3, 6)) for name in names}, gone="64"), *held]
    objects[2]["spec"]["unschedulable"] = True
    victims = []
    for index in range(draw.randint(2, 3)):
        name = f"v{index}"
        pod = koord_pod(
            name, app=draw.choice(_APPS), node="gone", cpu=str(draw.randint(1, 4)), owners=[f"ReplicaSet/{name}"]
        )
        victims += [pod, workload_object(f"ReplicaSet/{name}", template=pod)]
    prover = prover_of(*objects, *victims)
    leaving = [pod for pod in prover.cluster.snapshot.pods if pod.node_name == "gone"]
    verdict = prover.prove(leaving).verdict
    new = [
        koord_pod(
            f"new-{each['metadata']['name']}",
            cpu=each["spec"]["containers"][0]["resources"]["requests"]["cpu"],
            app=each["metadata"]["labels"]["app"],
        )
        for each in victims
        if each["kind"] == "Pod"
    ]
    world = World([*objects, *new])
    pods = list(world.pods.values())
    if verdict is LandingVerdict.LANDS:
        assert not _may_be_stuck(world, pods), "some order leaves a pod over"
    if verdict is LandingVerdict.NO:
        assert not _may_land(world, pods), "some assignment lands all"
    return verdict


def answers_by_the_way(seed: int) -> list[object]:
    """What is said of pods and of reserve pods that wait while some of both are placed and taken off again."""
    draw = Random(seed)
    names = [f"n{index}" for index in range(3)]
    held = reservations(draw, names, most=4)
    pending = [reservation_object(f"w{index}", cpu=str(draw.randint(1, 4)), owners=held_owners(draw)) for index in "ab"]
    objects = [*nodes(**{name: str(draw.randint(4, 9)) for name in names}), *held, *pending]
    objects += running(draw, held, names)
    pods = waiting(draw)
    world = World([*objects, *pods])
    in_line = [world.pods[each["metadata"]["name"]] for each in pods]
    in_line += [each.pod for each in world.held.values() if each.reservation.is_pending]
    placed: list[Placed] = []
    free = list(in_line)
    answers: list[object] = []
    for _ in range(12):
        for pod in in_line:
            evaluation = world.evaluate(pod)
            choice = evaluation.choose()
            bits = {name: column.tolist() for name, column in evaluation.bits.items()}
            answers.append((evaluation.feasible.tolist(), bits, choice))
        answers.append(world.cluster.table.requested.tolist())
        if placed and draw.random() < 0.4:
            gone = placed.pop(draw.randrange(len(placed)))
            world.cluster.take_off(gone)
            free.append(gone.pod)
        elif free and (evaluation := world.evaluate(draw.choice(free))).fits:
            free = [each for each in free if each.uid != evaluation.cycle.pod.pod.uid]
            placed.append(put_on_node(evaluation, draw.choice(evaluation.nodes.tolist())).placed)
        answers.append(world.cluster.digest() if draw.random() < 0.3 else "")
    return answers


def held_owners(draw: Random) -> list[Object]:
    """The owners of a Reservation."""
    return [{"labelSelector": {"matchLabels": {"app": draw.choice(_APPS)}}}]


def _may_be_stuck(world: World, pods: Sequence[Pod]) -> bool:
    """Whether some order, with some breaking of ties, leaves pods without a node."""
    options = [(pod, each, choice) for pod in pods if (choice := (each := world.evaluate(pod)).choose()) is not None]
    if not options:
        return bool(pods)
    for pod, evaluation, choice in options:
        rest = [other for other in pods if other is not pod]
        for node in choice.ties:
            with world.cluster.what_if():
                put_on_node(evaluation, node)
                if _may_be_stuck(world, rest):
                    return True
    return False


def _may_land(world: World, pods: Sequence[Pod]) -> bool:
    """Whether all pods find a node one after another, whatever the scheduler prefers."""
    if not pods:
        return True
    for pod in pods:
        evaluation = world.evaluate(pod)
        for node in evaluation.nodes.tolist():
            with world.cluster.what_if():
                placement = put_on_node(evaluation, node)
                if not placement.conditions and _may_land(world, [other for other in pods if other is not pod]):
                    return True
    return False


def main() -> None:
    """Checks that many worlds, and a fifth as many batches."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=1000)
    number = parser.parse_args().worlds
    for seed in range(number):
        check_world(seed)
    verdicts = [check_batch(seed).value for seed in range(number // 5)]
    counts = ", ".join(f"{verdicts.count(each)} {each}" for each in sorted(set(verdicts)))
    print(f"{number} worlds, {len(verdicts)} batches ({counts}): all laws hold")


if __name__ == "__main__":
    main()
