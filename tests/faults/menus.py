"""The faults that each kind of request may meet."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from tests.faults.faults import Act, Delivery, Fault, Form, Lie, Requests

_REFUSALS = (302, 400, 401, 403, 408, 409, 422, 429, 500, 502, 503, 504)
_OPEN_REFUSALS = (302, 400, 401, 408, 429, 500, 502, 503, 504)
"""Codes that proxies and overwhelmed servers answer with although the request was carried out."""
_DEFINITE = {(429, Form.STATUS), (429, Form.STATUS_WITH_WAIT), (400, Form.STATUS), (401, Form.STATUS)}
"""Answers of the API server itself, which has then done nothing."""
_FORMS = tuple(Form)
_CUTS = (Delivery.TRUNCATED, Delivery.SHORT_LENGTH, Delivery.LONG_LENGTH)
_LIST_LIES = (
    Lie.WRONG_JSON, Lie.NESTED, Lie.NULL_ITEMS, Lie.FAILURE_STATUS, Lie.OTHER_KIND, Lie.PARTIAL, Lie.ENDLESS,
)  # fmt: skip
OBJECT_WRITES = (
    Requests.JOB_CREATE, Requests.JOB_PATCH, Requests.JOB_STATUS, Requests.JOB_DELETE, Requests.ROOM_CREATE,
    Requests.ROOM_DELETE, Requests.MAP_WRITE, Requests.POD_WRITE,
)  # fmt: skip
"""The calls by which runs change objects that are neither Leases nor Events."""
_LIES = (Lie.WRONG_JSON, Lie.NESTED, Lie.FAILURE_STATUS, Lie.PARTIAL)


def menu_for(kind: Requests, draw: random.Random, *, timeout_seconds: float, num_faults: int) -> tuple[Fault, ...]:
    """So many faults for this kind of requests, drawn anew; slow answers outlast `timeout_seconds`."""
    make = _MAKERS.get(kind, _object_fault if kind in OBJECT_WRITES else _read_fault)
    lies = _LIST_LIES if kind is Requests.LIST else _LIES
    return tuple(make(draw, timeout_seconds, lies) for _ in range(num_faults))


def _eviction_fault(draw: random.Random, timeout_seconds: float, _: Sequence[Lie]) -> Fault:
    """Half of them take effect without saying so."""
    late = replace(_late(draw, timeout_seconds), delivery=Delivery.SILENT)
    # Early answers, and an effect while the request could still be carried out.
    soon = Fault(Act.LATE, late_seconds=timeout_seconds * draw.choice((0.3, 0.6, 0.95)))
    makers = (
        lambda: Fault(Act.NEVER, draw.choice(_REFUSALS), draw.choice(_FORMS), wait_seconds=draw.choice((1, 1, 2, 7))),
        lambda: _open_refusal(draw),
        lambda: _open_refusal(draw),
        lambda: Fault(draw.choice((Act.NEVER, Act.AT_ONCE)), delivery=Delivery.RESET),
        lambda: Fault(Act.AT_ONCE, delivery=Delivery.SILENT),
        lambda: late,
        lambda: Fault(Act.NEVER, delivery=Delivery.SILENT),
        lambda: Fault(draw.choice((Act.AT_ONCE, Act.LATE)), delay_seconds=timeout_seconds + draw.uniform(0.1, 1.5)),
        lambda: Fault(Act.AT_ONCE, delivery=draw.choice((*_CUTS, Delivery.DRIPPING))),
        lambda: Fault(Act.AT_ONCE, lie=draw.choice((Lie.WRONG_JSON, Lie.NESTED))),
        lambda: Fault(Act.AT_ONCE, delivery=Delivery.BOMB),
        lambda: replace(_late(draw, timeout_seconds), code=504, delay_seconds=timeout_seconds / 2),
        lambda: replace(soon, delivery=draw.choice((Delivery.RESET, Delivery.SILENT))),
        lambda: replace(_open_refusal(draw), act=Act.LATE, late_seconds=soon.late_seconds),
    )
    fault = draw.choices(makers, weights=(4, 3, 3, 2, 2, 2, 1, 2, 2, 1, 0.8, 1, 2, 2))[0]()
    if fault.act is Act.LATE and not fault.late_seconds:
        return replace(fault, late_seconds=max(0.1, fault.delay_seconds - 0.05))
    return fault


def _open_refusal(draw: random.Random) -> Fault:
    """A refusal that leaves open what was done, and it was."""
    while True:
        fault = Fault(Act.AT_ONCE, draw.choice(_OPEN_REFUSALS), draw.choice(_FORMS))
        if (fault.code, fault.form) not in _DEFINITE:
            return fault


def _late(draw: random.Random, timeout_seconds: float) -> Fault:
    return Fault(Act.LATE, late_seconds=timeout_seconds + draw.choice((0.2, 0.8, 1.5, 3.0, 6.0)))


def _read_fault(draw: random.Random, timeout_seconds: float, lies: Sequence[Lie]) -> Fault:
    makers = (
        lambda: Fault(Act.NEVER, draw.choice((*_REFUSALS, 410)), draw.choice(_FORMS), wait_seconds=draw.choice((1, 3))),
        lambda: Fault(delivery=Delivery.RESET),
        lambda: Fault(delivery=Delivery.SILENT),
        lambda: Fault(delay_seconds=timeout_seconds + draw.uniform(0.1, 1.5)),
        lambda: Fault(delivery=draw.choice(_CUTS)),
        lambda: Fault(delivery=Delivery.DRIPPING),
        lambda: Fault(lie=draw.choice(lies)),
        lambda: Fault(delivery=Delivery.BOMB),
    )
    return draw.choices(makers, weights=(4, 2, 2, 2, 2, 1, 4, 0.8))[0]()


def _write_fault(draw: random.Random, timeout_seconds: float, lies: Sequence[Lie]) -> Fault:
    """Faults of reading, of which those that refuse come before or after the effect."""
    fault = _read_fault(draw, timeout_seconds, lies)
    is_done = fault.code in (302, 408, 500, 502, 503, 504) and draw.random() < 0.5
    return replace(fault, act=Act.AT_ONCE) if is_done else fault


def _object_fault(draw: random.Random, timeout_seconds: float, _: Sequence[Lie]) -> Fault:
    """Most of them take effect without saying so; a few say so without any effect."""
    makers = (
        lambda: Fault(Act.AT_ONCE, draw.choice((500, 502, 503, 504, 504)), draw.choice(_FORMS)),
        lambda: Fault(Act.AT_ONCE, delivery=draw.choice((Delivery.RESET, Delivery.SILENT))),
        lambda: Fault(Act.AT_ONCE, delivery=draw.choice(_CUTS)),
        lambda: Fault(Act.AT_ONCE, lie=draw.choice((Lie.WRONG_JSON, Lie.NESTED, Lie.DONE))),
        lambda: Fault(Act.NEVER, draw.choice((403, 409, 422, 429, 500, 503, 504)), draw.choice(_FORMS)),
        lambda: Fault(Act.NEVER, delivery=draw.choice((Delivery.RESET, Delivery.SILENT))),
        lambda: Fault(Act.NEVER, lie=Lie.DONE),
        lambda: replace(_late(draw, timeout_seconds), code=504, delay_seconds=timeout_seconds / 2),
    )
    return draw.choices(makers, weights=(6, 4, 3, 2, 3, 2, 0.5, 1))[0]()


_MAKERS = {Requests.EVICTION: _eviction_fault, Requests.LEASE: _write_fault}
