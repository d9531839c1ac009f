"""What can go wrong on the way to the API and back: faults by seed, the end of the program at a call, and rivals.

The kinds of faults, and what they make of an answer, are those of `tests.faults`; here time passes at once.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

from descheduler.transport.errors import AnswerBroken, AnswerTooLarge, NotConnected, TransportError
from tests.faults.distortions import ENDLESS, distorted
from tests.faults.faults import Act, Answer, Delivery, Fault, Form, Lie, Requests, status_body
from tests.faults.menus import menu_for
from tests.faults.wire import json_answer
from tests.living.api.server import Call, LivingApi
from tests.living.transport import Passage

Chooser = Callable[[Call], "AnyFault | None"]


class Killed(BaseException):
    """The program has ended here, as by SIGKILL. Nothing that it does afterwards reaches the API."""


class Kind(Enum):
    """Faults that `tests.faults` does not know."""

    NO_CONNECTION = "nothing was sent"
    WATCH_ENDS = "a watch breaks after its first event"
    WATCH_GONE = "a watch tells that its version is gone"
    WATCH_SILENT = "a watch tells nothing any more"
    CONFLICT = "somebody else has changed the object in between"


AnyFault = Fault | Kind


class FaultyWay(Passage):
    """A way on which `choose` says the fault of each call, None for none.

    `kill_at` ends the program at the call of this number (counted on this way, from 1), before its effect or after.
    """

    def __init__(
        self,
        api: LivingApi,
        choose: Chooser = lambda call: None,
        *,
        kill_at: int | None = None,
        kills_after_effect: bool = False,
        timeout_seconds: float = 30.0,
    ) -> None:
        self.num_calls = 0
        self.met: list[tuple[int, str]] = []
        """Number of a call, and the fault that it met."""
        self.is_dead = False
        self._api = api
        self._clock = api.store.clock
        self._choose = choose
        self._kill_at = kill_at
        self._kills_after_effect = kills_after_effect
        self._timeout_seconds = timeout_seconds
        self._faults: dict[int, AnyFault] = {}
        self._hooks: list[tuple[str, str, int, Callable[[], object]]] = []

    def before(self, method: str, ending: str, hook: Callable[[], object], *, nth: int = 1) -> None:
        """Has `hook` called once, right before the nth call of this method whose path ends so has its effect."""
        self._hooks.append((method, ending, nth, hook))

    def answer(self, call: Call, carry_out: Callable[[], Answer]) -> Answer:
        """As `Passage.answer`. Raises Killed."""
        self.num_calls += 1
        if self.is_dead or (self.num_calls == self._kill_at and not self._kills_after_effect):
            self._die()
        self._run_hooks(call)
        fault = self._choose(call)
        if fault is not None:
            self._faults[call.number] = fault
            self.met.append((call.number, fault.name))
        answer = self._met(call, carry_out, fault)
        if self.num_calls == self._kill_at:
            self._die()
        return answer

    def parts(self, call: Call, parts: Iterator[bytes]) -> Iterator[bytes]:
        """As `Passage.parts`."""
        fault = self._faults.get(call.number)
        if isinstance(fault, Fault) and fault.delivery in (Delivery.TRUNCATED, Delivery.LONG_LENGTH):
            return self._broken(call, parts)
        if call.request.is_watch and fault is Kind.WATCH_ENDS:
            return self._broken(call, parts)
        if call.request.is_watch and fault is Kind.WATCH_GONE:
            status = status_body(410, "Expired", "too old resource version")
            return iter([json_answer(200, {"type": "ERROR", "object": status}).body + b"\n"])
        if call.request.is_watch and fault is Kind.WATCH_SILENT:
            return self._silent(call)
        return parts

    def _die(self) -> None:
        self.is_dead = True
        raise Killed(f"killed at call {self.num_calls}")

    def _run_hooks(self, call: Call) -> None:
        for number, (method, ending, nth, hook) in enumerate(self._hooks):
            if call.request.method == method and call.request.path.endswith(ending):
                if nth == 1:
                    del self._hooks[number]
                    hook()
                    return
                self._hooks[number] = method, ending, nth - 1, hook

    def _met(self, call: Call, carry_out: Callable[[], Answer], fault: AnyFault | None) -> Answer:
        if call.request.query.get("continue", "").startswith(ENDLESS):
            return _more(call.request.query["continue"])
        if fault is Kind.NO_CONNECTION:
            raise NotConnected(f"{call.subject}: no connection (Connection refused)")
        if fault is Kind.CONFLICT:
            self._touch(call)
        if not isinstance(fault, Fault):
            return carry_out()
        honest = self._acted(carry_out, fault)
        if fault.delay_seconds:
            self._wait(call, fault.delay_seconds)
        return self._delivered(call, honest, fault)

    def _acted(self, carry_out: Callable[[], Answer], fault: Fault) -> Answer:
        if fault.act is Act.AT_ONCE:
            return carry_out()
        if fault.act is Act.LATE:
            self._clock.after(fault.late_seconds, carry_out)
        return json_answer(503, status_body(503, "ServiceUnavailable", "not carried out"))

    def _wait(self, call: Call, seconds: float) -> None:
        """Raises TransportError beyond the time-out."""
        self._clock.sleep(min(seconds, self._timeout_seconds))
        if seconds >= self._timeout_seconds:
            raise TransportError(f"{call.subject}: no complete answer within {self._timeout_seconds:g} s")

    def _delivered(self, call: Call, honest: Answer, fault: Fault) -> Answer:
        match fault.delivery:
            case Delivery.RESET:
                raise TransportError(f"{call.subject}: the connection was closed before the answer was complete")
            case Delivery.SILENT | Delivery.DRIPPING:
                self._wait(call, self._timeout_seconds)
            case Delivery.BOMB:
                raise AnswerTooLarge(f"{call.subject}: the answer is larger than a correct one can be")
            case Delivery.SHORT_LENGTH:
                return replace(honest, body=honest.body[:-10])
        if fault.lie is not None and honest.content_type != "application/json":
            return replace(honest, body=honest.body[: len(honest.body) // 2])
        return distorted(honest, fault, elsewhere="https://elsewhere.example")

    def _broken(self, call: Call, parts: Iterator[bytes]) -> Iterator[bytes]:
        """The first part at most."""
        for part in parts:
            yield part
            break
        raise AnswerBroken(f"{call.subject}: the answer was cut short")

    def _silent(self, call: Call) -> Iterator[bytes]:
        self._clock.sleep(min(float(call.request.query.get("timeoutSeconds") or "inf"), self._timeout_seconds))
        yield from ()

    def _touch(self, call: Call) -> None:
        """Somebody else sets an annotation of the object that the call is about to write."""
        if call.request.method in ("PUT", "PATCH"):
            path = call.request.path.removesuffix("/status").removesuffix("/scale")
            store = self._api.store
            *_, plural, name = path.split("/")
            namespace = path.split("/namespaces/")[1].split("/")[0] if "/namespaces/" in path else ""
            group = path.split("/")[2] if path.startswith("/apis/") else ""
            with store.acting("rival"):
                store.edit(
                    f"{plural}.{group}" if group else plural,
                    name,
                    namespace,
                    lambda found: found["metadata"].setdefault("annotations", {}).update(touched=str(call.number)),
                )


def kind_of(call: Call) -> Requests:
    """The kind of a request, as far as its faults go: writes of all objects are as those of a Lease."""
    method, parts = call.request.method, call.request.path.strip("/").split("/")
    if parts[-1] == "eviction":
        return Requests.EVICTION
    if "events" in parts:
        return Requests.EVENT
    if method != "GET":
        return Requests.LEASE
    rest = parts[2 if parts[0] == "api" else 3 :]
    if len(rest) > 2 and rest[0] == "namespaces":
        rest = rest[2:]
    return (Requests.DISCOVERY, Requests.LIST, Requests.POD)[min(len(rest), 2)]


@dataclass
class SeededFaults:
    """Draws the fault of each call from the seed, its path and its number among those of the path.

    `rate` is the share of calls that meet one, of the kinds in `kinds` (all, if empty); after `most` all is well.
    """

    seed: int
    rate: float = 0.2
    most: int | None = None
    kinds: frozenset[Requests] = frozenset()
    timeout_seconds: float = 30.0

    def __post_init__(self) -> None:
        self._num_asked: Counter[tuple[str, str]] = Counter()
        self._num_met = 0

    def __call__(self, call: Call) -> AnyFault | None:
        """The fault of the next call, None for none."""
        kind, key = kind_of(call), (call.request.method, call.request.path)
        self._num_asked[key] += 1
        draw = random.Random(f"{self.seed}/{key}/{self._num_asked[key]}")
        is_over = self.most is not None and self._num_met >= self.most
        if is_over or (self.kinds and kind not in self.kinds) or draw.random() >= self.rate:
            return None
        self._num_met += 1
        return self._drawn(call, kind, draw)

    def _drawn(self, call: Call, kind: Requests, draw: random.Random) -> AnyFault:
        if call.request.is_watch and draw.random() < 0.8:
            return draw.choice((Kind.WATCH_ENDS, Kind.WATCH_GONE, Kind.WATCH_SILENT, Fault(Act.NEVER, code=404)))
        if draw.random() < 0.1:
            return Kind.NO_CONNECTION
        if call.request.method in ("PUT", "PATCH") and draw.random() < 0.3:
            return Kind.CONFLICT
        (fault,) = menu_for(kind, draw, timeout_seconds=self.timeout_seconds, num_faults=1)
        if call.request.method != "GET" and fault.act is Act.AT_ONCE and draw.random() < 0.4:
            fault = replace(fault, act=Act.NEVER)
        if draw.random() < 0.05:
            return Fault(Act.NEVER, code=404, form=Form.TEXT)
        return replace(fault, delivery=Delivery.RESET) if fault.lie is Lie.ENDLESS and call.request.is_watch else fault


def _more(token: str) -> Answer:
    """One more empty page of a list without end."""
    metadata = {"resourceVersion": "1", "continue": f"{ENDLESS}.{int(token.partition('.')[2]) + 1}"}
    return json_answer(200, {"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": []})
