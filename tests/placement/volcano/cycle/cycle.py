"""The actions of a cycle of Volcano, and how a cycle is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from descheduler.placement.volcano.actions import enqueue, preempt, reclaim
from descheduler.placement.volcano.session import Session
from tests.placement.volcano.cycle.allocate import allocate
from tests.placement.volcano.cycle.backfill import backfill

ACTIONS: Mapping[str, Callable[[Session], None]] = {
    "enqueue": enqueue,
    "allocate": allocate,
    "backfill": backfill,
    "preempt": preempt,
    "reclaim": reclaim,
}


def run_cycle(session: Session) -> None:
    """Runs the actions of the configuration in their order; one that is not modelled is left out.

    Where the scheduler ends with a fault nothing is done.
    """
    for name in () if session.fault else session.configuration.actions:
        action = ACTIONS.get(name)
        if action is not None:
            session.action = name
            action(session)
