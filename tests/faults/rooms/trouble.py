"""What goes wrong in schedules whose pods are moved by jobs: at each kind of write, before or after its effect."""

from __future__ import annotations

import random

from tests.faults.disturbances import Disturbance, Event
from tests.faults.faults import Requests
from tests.faults.history import Terms
from tests.faults.menus import OBJECT_WRITES, menu_for
from tests.faults.rules import Rule

_MOST_WRITES = 30
_KINDS = (*OBJECT_WRITES[:6], Requests.MAP_WRITE, Requests.EVICTION)
_WEIGHTS = (3, 2, 2, 1, 3, 2, 0.5, 3)
_MOMENTS = (0.0, 0.0, 0.02, 0.1)
"""A signal comes while the call is under way, or soon after its answer."""


def draw_room_rules(draw: random.Random, terms: Terms) -> dict[Requests, Rule]:
    """Faults of one to three kinds of calls; none at all in a third of the schedules."""
    if draw.random() < 0.3:
        return {}
    kinds = list({draw.choices(_KINDS, weights=_WEIGHTS)[0]: None for _ in range(draw.choice((1, 1, 2, 3)))})
    kinds += [kind for kind in (Requests.JOB, Requests.ROOM, Requests.POD) if draw.random() < 0.12]
    kinds += [kind for kind in (Requests.LEASE, Requests.EVENT, Requests.LIST) if draw.random() < 0.08]
    return {kind: _rule(draw, kind, terms) for kind in kinds}


def _rule(draw: random.Random, kind: Requests, terms: Terms) -> Rule:
    menu = menu_for(kind, draw, timeout_seconds=terms.request_timeout_seconds, num_faults=draw.randint(1, 2))
    most = draw.choice((1, 1, 2, 4, None))
    if kind is Requests.LIST:
        most = draw.choice((1, 2))
    return Rule(menu, draw.choice((0.5, 1.0, 1.0)), most, holds_in_second_run=draw.random() < 0.3)


def draw_room_disturbances(draw: random.Random) -> tuple[Disturbance, ...]:
    """A signal at one of the writes in half of the schedules, and other parties that meddle in some."""
    found = []
    if draw.random() < 0.5:
        event = draw.choice((Event.SIGTERM, Event.SIGTERM, Event.SIGINT, Event.SIGKILL, Event.SIGKILL))
        after = draw.choice((None, None, *OBJECT_WRITES[:6], Requests.EVICTION))
        nth = draw.randint(1, _MOST_WRITES if after is None else 4)
        found.append(Disturbance(event, after, nth, draw.choice(_MOMENTS)))
    meddling = (Event.PODS_DELETED, Event.JOBS_DELETED, Event.JOBS_CHANGED)
    if draw.random() < 0.3:
        after = draw.choice((Requests.ROOM_CREATE, Requests.JOB_STATUS, Requests.JOB_PATCH, Requests.EVICTION))
        found.append(Disturbance(draw.choice(meddling), after, draw.randint(1, 4), draw.choice(_MOMENTS)))
    return tuple(found)


def draw_deletions(draw: random.Random, terms: Terms) -> tuple[Disturbance, ...]:
    """Another client that deletes records of the program, in a quarter of the schedules."""
    if draw.random() >= 0.25:
        return ()
    events = [Event.JOBS_DELETED, Event.ROOMS_DELETED, Event.RECORDS_DELETED]
    events += [Event.LEASE_DELETED] if terms.lease_seconds is not None else []
    delay_seconds = draw.choice((*_MOMENTS, 0.7, 2.0))
    return (Disturbance(draw.choice(events), None, draw.randint(1, _MOST_WRITES), delay_seconds),)
