"""Every write of a small run, each with every kind of trouble: what a random schedule may miss."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from tests.faults.disturbances import Disturbance, Event
from tests.faults.faults import Act, Delivery, Fault
from tests.faults.history import Terms
from tests.faults.rooms.worlds import small_room_world
from tests.faults.schedule import Schedule

_NUM_WRITES = 26
"""More than the small run makes."""
_FIRST_SEED = 10_000_000
_AFTER_ANSWER_SECONDS = 0.02
_FLAGS = ("--request-timeout=1s", "--deadline=15s", "--output=json", "-v=1")
_LEASE_SECONDS = 6
_LONG_GRACE_SECONDS = 60.0
_WHILE_WAITING_SECONDS = 0.7
_WAYS = (("placeholder", False), ("placeholder", True), ("koordinator", True))
"""How room is held, and whether jobs are PodMigrationJobs."""


@dataclass(frozen=True, slots=True)
class _Trouble:
    """A fault that a write meets, or an event as it comes, right after its answer or later.

    The run has a Lease where somebody deletes that; pods take `grace_seconds` to stop.
    """

    fault: Fault | None = None
    event: Event | None = None
    delay_seconds: float = 0.0
    grace_seconds: float = 0.0

    @property
    def lease_seconds(self) -> int | None:
        """How long the Lease of the run is valid, None for a run without."""
        return _LEASE_SECONDS if self.event is Event.LEASE_DELETED else None


_TROUBLES = (
    _Trouble(Fault(Act.AT_ONCE, 504)),
    _Trouble(event=Event.SIGTERM),
    _Trouble(Fault(Act.AT_ONCE, delivery=Delivery.RESET)),
    _Trouble(event=Event.SIGKILL),
    _Trouble(Fault(Act.NEVER, 500)),
    _Trouble(event=Event.SIGTERM, delay_seconds=_AFTER_ANSWER_SECONDS),
    _Trouble(Fault(Act.AT_ONCE, delivery=Delivery.TRUNCATED)),
    _Trouble(event=Event.SIGKILL, delay_seconds=_AFTER_ANSWER_SECONDS),
    _Trouble(Fault(Act.NEVER, delivery=Delivery.RESET)),
    _Trouble(Fault(Act.AT_ONCE, 504), Event.SIGTERM),
    _Trouble(Fault(Act.AT_ONCE, 504), Event.PODS_DELETED),
    _Trouble(event=Event.JOBS_DELETED),
    _Trouble(event=Event.JOBS_DELETED, delay_seconds=_WHILE_WAITING_SECONDS, grace_seconds=_LONG_GRACE_SECONDS),
    _Trouble(event=Event.ROOMS_DELETED),
    _Trouble(event=Event.ROOMS_DELETED, delay_seconds=_WHILE_WAITING_SECONDS),
    _Trouble(event=Event.RECORDS_DELETED, delay_seconds=_AFTER_ANSWER_SECONDS),
    _Trouble(event=Event.LEASE_DELETED),
    _Trouble(Fault(Act.AT_ONCE, 504), Event.RECORDS_DELETED, _WHILE_WAITING_SECONDS),
)


def each_write() -> Iterator[Schedule]:
    """A schedule for each way to hold room, write and trouble."""
    for way, (provider, has_jobs) in enumerate(_WAYS):
        for write in range(1, _NUM_WRITES + 1):
            for number, trouble in enumerate(_TROUBLES):
                seed = _FIRST_SEED + (way * _NUM_WRITES + write) * len(_TROUBLES) + number
                yield _schedule(seed, provider, write, trouble, has_jobs=has_jobs)


def _schedule(seed: int, provider: str, write: int, trouble: _Trouble, *, has_jobs: bool) -> Schedule:
    world = small_room_world(random.Random(1), provider, has_jobs=has_jobs)
    happening = () if trouble.event is None else (Disturbance(trouble.event, None, write, trouble.delay_seconds),)
    return Schedule(
        seed=seed,
        world=world,
        terms=Terms(
            world.limits,
            deadline_seconds=15.0,
            request_timeout_seconds=1.0,
            lease_seconds=trouble.lease_seconds,
            protected=world.protected,
        ),
        flags=(*_FLAGS, f"--lease-duration={trouble.lease_seconds}s" if trouble.lease_seconds else "--no-lease"),
        grace_seconds=trouble.grace_seconds,
        is_lucky=True,
        at_write=None if trouble.fault is None else (write, trouble.fault),
        disturbances=happening,
        runs_again=True,
    )
