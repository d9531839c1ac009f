"""Moves that were chosen before, such as those of a plan file, and the room that they hold for other pods."""

from __future__ import annotations

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.held_room import HeldRoom
from descheduler.model.pod import Pod
from descheduler.plan.moves import Move
from descheduler.policy.load import load_policy
from tests.builders import NOW, make_node, make_pod, make_snapshot
from tests.report.decided_cycles import pod_life_time_policy


def rooms_of(first: Pod, *others: Pod, chosen: tuple[str, ...]) -> list[str]:
    """The pods for which room is held where `first` leaves: it was to be for all `others`. All `chosen` pods leave."""
    pods = {pod.name: pod for pod in (first, *others)}
    rooms = tuple(HeldRoom(other, first.node_name) for other in others)
    moves = [
        Move(pods[name], "main", "PodLifeTime", held_on="b", rooms=rooms * (name == first.name)) for name in chosen
    ]
    snapshot = make_snapshot([make_node("a", cpu="8"), make_node("b", cpu="8")], pods.values())
    decided = decide(load_policy(pod_life_time_policy(), REGISTRY), snapshot, now=NOW, this_round=Round(chosen=moves))
    (found,) = [move for move in decided.moves if move.pod.name == first.name]
    return [room.pod.name for room in found.rooms]


def test_room_is_held_for_pods_that_wait_or_leave_and_for_no_others() -> None:
    first, leaves, stays = (make_pod(name, cpu="1", node="a") for name in ("first", "leaves", "stays"))
    waits = make_pod("waits", cpu="1", node=None, phase="Pending")

    assert rooms_of(first, leaves, stays, waits, chosen=("first", "leaves")) == ["leaves", "waits"]
