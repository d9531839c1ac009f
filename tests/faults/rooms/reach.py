"""How far schedules got whose pods are moved by jobs, so that a harness in which nothing happens is found out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.faults.history import Request, Write
from tests.faults.rooms.kinds import CONFIG_MAPS, JOBS, PODS, RESERVATIONS

if TYPE_CHECKING:
    from tests.faults.campaign import Played

_SIGNALS = ("SIGTERM", "SIGINT", "SIGKILL")


def rooms_reached(played: Played) -> set[str]:
    """What this schedule got to."""
    world, history = played.schedule.world, played.history
    if not world.provider:
        return set()
    ours = [write for write in history.writes if write.whose == "ours"]
    calls = [r for r in history.requests if r.kind.startswith(("job ", "room "))]
    kept = JOBS if world.has_jobs else CONFIG_MAPS
    facts = {
        f"rooms: by {world.provider}, jobs in {kept.rpartition('/')[2]}": _has(ours, "create", PODS, RESERVATIONS),
        "rooms: created": _has(ours, "create", PODS, RESERVATIONS),
        "rooms: given back": _has(ours, "delete", PODS, RESERVATIONS),
        "rooms: pods evicted with room held": _has(ours, "create", PODS, RESERVATIONS) and bool(history.effects),
        "rooms: a write met a fault": any(call.fault and call.method != "GET" for call in calls),
        "rooms: a write took effect behind a fault": any(_has_effect(call) for call in calls),
        "rooms: a signal came at a write": any(r.met in _SIGNALS and r.method != "GET" for r in history.requests),
        "rooms: killed while something of ours was there": any(
            run.was_ended and history.left.get(run.index) for run in history.runs
        ),
        "rooms: objects that look like ours": world.has_lookalikes and _has_read(history.requests),
        "rooms: broken objects": world.has_broken and _has_read(history.requests),
        "rooms: users' jobs carried on": any(write.whose == "open" for write in history.writes),
        "rooms: pods evicted for users' jobs": any(".free-" in effect.uid for effect in history.effects),
    }
    return {words for words, is_true in facts.items() if is_true}


def _has(writes: list[Write], verb: str, *paths: str) -> bool:
    return any(write.verb == verb and write.path.startswith(paths) for write in writes)


def _has_effect(call: Request) -> bool:
    return call.method != "GET" and bool(call.fault) and "no effect" not in call.fault


def _has_read(requests: list[Request]) -> bool:
    """Whether some run came so far that it had listed pods."""
    return any(request.path == PODS and request.is_whole for request in requests)
