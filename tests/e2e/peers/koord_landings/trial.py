"""Pods that come one after the other: first the product says what becomes of each, then the scheduler shows it."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.binaries import Binaries
from tests.e2e.kube_api import Object
from tests.e2e.peers.koord_landings.arena import Arena, arena
from tests.e2e.peers.koord_landings.pods import Arrival, make_arrivals
from tests.e2e.peers.koord_landings.tally import Tally
from tests.e2e.peers.koord_landings.world import make_world


def run_trial(folder: Path, binaries: Binaries, *, num_pods: int, seed: int) -> Tally:
    """The counts of one world, on a control plane of its own in `folder`."""
    world = make_world(seed, num_pods)
    tally = Tally()
    with arena(folder, binaries, world) as live:
        waiting: list[tuple[str, Object]] = []
        for arrival in make_arrivals(seed, num_pods, len(world.reservations)):
            waiting += _receive(live, arrival, tally)
        kinds = {pod["metadata"]["name"]: kind for kind, pod in waiting}
        for name in live.bound_since([pod for _, pod in waiting]):
            tally.retract_pending(kinds[name], name)
    return tally


def _receive(live: Arena, arrival: Arrival, tally: Tally) -> list[tuple[str, Object]]:
    """Those of the pods that stay Pending.

    Members of a gang that is not bound are deleted, or they would be tried again and again, holding room meanwhile.
    """
    live.create(arrival.companions)
    forecast = live.engine.forecast(live.admitted(arrival.pods))
    stored = live.create(arrival.pods)
    outcomes = live.outcomes(stored, forecast.said())
    tally.add(arrival.kind, [pod["metadata"]["name"] for pod in stored], forecast, outcomes)
    pending = [pod for pod, outcome in zip(stored, outcomes, strict=True) if not outcome.node]
    if arrival.kind == "gang":
        live.delete(pending)
        return []
    return [(arrival.kind, pod) for pod in pending]
