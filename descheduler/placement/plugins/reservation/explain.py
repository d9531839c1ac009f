"""What a refused pod has to do with the Reservations of a node."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from descheduler.model.text.amounts import amounts_text
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.plugins.reservation.cycle_state import state_of
from descheduler.placement.plugins.reservation.holdings import Holdings
from descheduler.placement.plugins.reservation.matching import OwnerMatch
from descheduler.placement.shadow.shadow_cluster import Cycle

__all__ = ["diagnosis", "explain_held_room", "explain_reservations"]


def explain_reservations(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """What came of each Reservation on the node."""
    del obstacle
    state = state_of(refused.cycle)
    for held, found in () if state is None else state.matches:
        if held.node == refused.node_index:
            yield f"Reservation {held.name} {_words(found)}"


def explain_held_room(refused: RefusedNode, short: AbstractSet[str]) -> Iterator[str]:
    """What the Reservations on the node that the pod may not use hold, of those that hold any resource of `short`."""
    state, table = state_of(refused.cycle), refused.cycle.cluster.table
    usable = [] if state is None else [held for held, found in state.matches if found.gives_room]
    for held in refused.cycle.cluster.follow(Holdings).held:
        gaps = [(table.resources[row], amount) for row, amount in held.gaps() if amount > 0]
        is_here = held.is_active and held.node == refused.node_index and held not in usable
        if is_here and any(resource in short for resource, _ in gaps):
            yield f"Reservation {held.name} holds {amounts_text(gaps)} for its owners"


def diagnosis(cycle: Cycle) -> tuple[str, ...]:
    """What koord-scheduler adds to its event about a pod that fits nowhere (`plugin.go`, makePostFilterReasons).

    That is how many Reservations are for the pod, and what is against these; empty where none is and it needs none.
    """
    state = state_of(cycle)
    if state is None:
        return ()
    owned = [found for _, found in state.matches if found.is_owned]
    if not owned and state.request.affinity is None:
        return ()
    against = (
        OwnerMatch.OTHER_NAME,
        OwnerMatch.AFFINITY,
        OwnerMatch.UNSCHEDULABLE,
        OwnerMatch.NOT_EXACT,
        OwnerMatch.UNTOLERATED,
    )
    counts = ((owned.count(each), each.value) for each in against)
    found = [f"{number} Reservation(s) {words}" for number, words in counts if number]
    return (*found, f"{len(owned)} Reservation(s) matched owner total")


def _words(found: OwnerMatch) -> str:
    return "matches the pod and has too little left" if found.gives_room else found.value
