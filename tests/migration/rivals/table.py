"""Twenty rivals: what each does right before a call of the run, and what may come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from descheduler.plan.outcome import OutcomeCode
from tests.migration.rivals.world import SOURCE, TARGETS, RivalWorld

Deed = Callable[[RivalWorld], object]

_WHOLE_NODE = "3500m"
_TAINT = {"key": "rival", "value": "", "effect": "NoSchedule"}


def _fill(world: RivalWorld, *names: str) -> None:
    """A rival takes the room of these nodes."""
    for name in names:
        world.run_pod(f"rival-{name}", _WHOLE_NODE, name)


def _fill_by_scheduling(world: RivalWorld) -> None:
    """Pods come of the same priority; the scheduler sees to them before the rest."""
    for name in TARGETS:
        world.schedule_pod(f"rival-{name}", _WHOLE_NODE, name)


def _cordon(world: RivalWorld) -> None:
    for name in TARGETS:
        world.edit_node(name, lambda found: found["spec"].update(unschedulable=True))


def _taint(world: RivalWorld) -> None:
    for name in TARGETS:
        world.edit_node(name, lambda found: found["spec"].setdefault("taints", []).append(_TAINT))


def _heal_source(world: RivalWorld) -> None:
    world.edit_node(SOURCE, lambda found: found["spec"].update(taints=[]))


def _delete_nodes(world: RivalWorld) -> None:
    for name in TARGETS:
        world.delete_node(name)


def _fail_nodes(world: RivalWorld) -> None:
    for name in TARGETS:
        world.fail_node(name)


@dataclass(frozen=True)
class Rivalry:
    """What a rival does right before a call of the run, and how many pods may leave all the same (None: any number).

    `way` is one of `WAYS`; the call is the nth of this method whose path ends so. `code` is that of the one outcome;
    None where it depends on who comes first.
    """

    way: str
    deed: Deed
    method: str = "POST"
    ending: str = "/podmigrationjobs"
    nth: int = 1
    evicted: int | None = 0
    code: OutcomeCode | None = OutcomeCode.CHANGED


_HOLD = "/reservations"
_PLACE = "/pods"
_ONCE_HELD = ("GET", "/nodes", 3)
"""With that the plan is compared with the cluster, right before the eviction; the run and its guards read before."""
_NO_ROOM = OutcomeCode.NO_ROOM
_DONE = OutcomeCode.DONE
RIVALRIES: Mapping[str, Rivalry] = {
    "room is taken before the eviction": Rivalry("directly", lambda w: _fill(w, *TARGETS)),
    "room on one of two nodes is taken": Rivalry("directly", lambda w: _fill(w, TARGETS[0]), evicted=1, code=_DONE),
    "rivals are scheduled first": Rivalry("directly", _fill_by_scheduling),
    "targets are cordoned": Rivalry("directly", _cordon),
    "targets are tainted": Rivalry("directly", _taint),
    "targets are deleted": Rivalry("directly", _delete_nodes),
    "targets fail": Rivalry("directly", _fail_nodes),
    "the source has recovered": Rivalry("directly", _heal_source),
    "the pod has other labels": Rivalry("directly", lambda w: w.label_pods("under", "investigation")),
    "another deletes the pod": Rivalry("directly", lambda w: w.delete_pods(), code=None),
    "another descheduler evicts the pod": Rivalry("directly", lambda w: w.evict_pods(), evicted=None, code=None),
    "the workload is scaled down": Rivalry("directly", lambda w: w.scale(0), code=None),
    "the workload is scaled up": Rivalry("directly", lambda w: w.scale(3), evicted=1, code=_DONE),
    "a budget comes": Rivalry("directly", lambda w: w.protect(2), code=OutcomeCode.BUDGET),
    "room is taken before it is held": Rivalry(
        "reservations", lambda w: _fill(w, *TARGETS), ending=_HOLD, code=_NO_ROOM
    ),
    "rivals of another scheduler come when room is held": Rivalry("reservations", _fill_by_scheduling, *_ONCE_HELD),
    "targets are cordoned when room is held": Rivalry("reservations", _cordon, *_ONCE_HELD),
    "room is taken before the placeholder": Rivalry(
        "placeholders", lambda w: _fill(w, *TARGETS), ending=_PLACE, code=_NO_ROOM
    ),
    "targets are tainted under a placeholder": Rivalry("placeholders", _taint, *_ONCE_HELD),
    "the source has recovered when room is held": Rivalry("reservations", _heal_source, *_ONCE_HELD),
}
