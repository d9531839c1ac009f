"""Builders and stand-ins for tests of the dispatcher: plans, a scripted API, a clock that stands still, a run."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from descheduler.kube.answers import StatusCause
from descheduler.kube.evict import EvictionResponse, PodState
from descheduler.migration.dispatch.pace import Paces
from descheduler.migration.dispatch.surroundings import Halting, OpenCalls, Surroundings
from descheduler.migration.ports import OutcomeSink
from descheduler.migration.roads.plain import execute
from descheduler.migration.settings import DispatchSettings
from descheduler.plan.outcome import Outcome, OutcomeCode
from descheduler.plan.planned import PlannedEviction
from tests.builders import NOW

EVICTED = EvictionResponse(201)
FAST = DispatchSettings(qps=1000.0, burst=1000)
ONE_BY_ONE = replace(FAST, max_in_flight=1)


def make_eviction(
    name: str,
    *,
    namespace: str = "shop",
    node: str = "n1",
    uid: str | None = None,
    reason: str = "",
    request_evict_only: bool = False,
    grace_period_seconds: int | None = None,
    dry: bool = False,
    bundle: int = 0,
) -> PlannedEviction:
    """An eviction that plugin PodLifeTime of profile p asked for."""
    return PlannedEviction(
        namespace=namespace,
        name=name,
        uid=f"uid-{name}" if uid is None else uid,
        node=node,
        profile="p",
        plugin="PodLifeTime",
        reason=reason,
        request_evict_only=request_evict_only,
        grace_period_seconds=grace_period_seconds,
        dry=dry,
        bundle=bundle,
    )


def no_disruption() -> EvictionResponse:
    """A budget stands against it."""
    cause = StatusCause("DisruptionBudget", "The disruption budget b needs 3 healthy pods and has 3 currently")
    return EvictionResponse(429, "TooManyRequests", "Cannot evict pod.", (cause,))


def wait_told(seconds: float) -> EvictionResponse:
    """The server asks to come back."""
    return EvictionResponse(429, "TooManyRequests", "busy", retry_after_seconds=seconds)


def turned_away(seconds: float, *, is_unread: bool = True) -> EvictionResponse:
    """The server has too much to do for any call, and says so in plain text."""
    message = "Too Many Requests"
    return EvictionResponse(429, message=message, retry_after_seconds=seconds, is_told=False, is_unread=is_unread)


def no_answer() -> EvictionResponse:
    """The connection was lost after the call was sent."""
    return EvictionResponse(0, message="connection lost", is_told=False)


def not_sent() -> EvictionResponse:
    """No connection could be made."""
    return EvictionResponse(0, message="no connection", was_sent=False, is_told=False)


def broken_off(status_code: int = 500) -> EvictionResponse:
    """The server gave the call up while it was under way."""
    return EvictionResponse(status_code, "InternalError", "etcdserver: request timed out")


class AtOnce:
    """Makes each call when it is submitted."""

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """The future of `call`, done."""
        future: Future[Any] = Future()
        try:
            future.set_result(call())
        except Exception as error:
            future.set_exception(error)
        return future


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.on_sleep: Callable[[], None] = lambda: None

    def now(self) -> float:
        """The time in seconds."""
        return self.seconds

    def sleep(self, seconds: float) -> None:
        """Passes the time."""
        self.seconds += seconds
        self.on_sleep()


class ScriptedApi:
    """Answers each call for a pod with the next of its responses, then with success; keeps the calls.

    Looks at a pod find what `finds` scripts for it, the last state for ever; a pod that nothing is scripted for stays.
    """

    def __init__(self, clock: Clock | None = None, /, **responses: Sequence[EvictionResponse | Exception]) -> None:
        self._clock = clock or Clock()
        self._responses = defaultdict(deque, {name: deque(scripted) for name, scripted in responses.items()})
        self._lock = threading.Lock()
        self.calls: list[tuple[str, float]] = []
        """Pod names with the time of the call, in order of starting."""
        self.requests: list[tuple[str, str, int | None, str]] = []
        self.before_answer: Callable[[str], None] = lambda name: None
        self.looks: list[tuple[str, float]] = []
        """As `calls`, of looks at pods."""
        self._states: dict[str, deque[PodState | Exception]] = {}

    def finds(self, name: str, *states: PodState | Exception) -> ScriptedApi:
        """This API, whose looks at the pod find these states, one after the other."""
        self._states[name] = deque(states)
        return self

    def look(self, namespace: str, name: str, *, uid: str) -> PodState:
        """The next state scripted for the pod."""
        with self._lock:
            self.looks.append((name, self._clock.now()))
            states = self._states.get(name) or deque([PodState.PRESENT])
            state = states.popleft() if len(states) > 1 else states[0]
        if isinstance(state, Exception):
            raise state
        return state

    @property
    def names(self) -> list[str]:
        """Pod names in order of starting."""
        return [name for name, _ in self.calls]

    def evict(
        self,
        namespace: str,
        name: str,
        *,
        uid: str,
        grace_period_seconds: int | None,
        annotations_reason: str,
        may_send: Callable[[], bool] = lambda: True,
    ) -> EvictionResponse:
        """The next response scripted for the pod."""
        del may_send
        with self._lock:
            self.calls.append((name, self._clock.now()))
            self.requests.append((f"{namespace}/{name}", uid, grace_period_seconds, annotations_reason))
            response = self._answer(name)
        self.before_answer(name)
        if isinstance(response, Exception):
            raise response
        return response

    def _answer(self, name: str) -> EvictionResponse | Exception:
        return self._responses[name].popleft() if self._responses[name] else EVICTED


class BusyApi(ScriptedApi):
    """Serves `num_served` calls in any second of the clock and turns the others away."""

    def __init__(self, clock: Clock, num_served: int) -> None:
        super().__init__(clock)
        self._num_served = num_served
        self._served: defaultdict[int, int] = defaultdict(int)
        self.num_turned_away = 0

    def _answer(self, name: str) -> EvictionResponse | Exception:
        second = int(self._clock.now())
        if self._served[second] >= self._num_served:
            self.num_turned_away += 1
            return turned_away(1.0)
        self._served[second] += 1
        return super()._answer(name)


class Heard(list[Outcome]):
    """An outcome sink that keeps what it hears."""

    def __init__(self) -> None:
        super().__init__()
        self.doubts: list[tuple[str, str, float]] = []
        """Pod name, answer and seconds."""
        self.overloads: list[float] = []
        self.plans: list[int] = []
        """How many evictions there were in all, each time that was told."""

    def planned(self, num_evictions: int) -> None:
        """Keeps it."""
        self.plans.append(num_evictions)

    def record(self, outcome: Outcome) -> None:
        """Keeps it."""
        self.append(outcome)

    def doubted(self, eviction: PlannedEviction, why: str, at_most_seconds: float) -> None:
        """Keeps it."""
        self.doubts.append((eviction.name, why, at_most_seconds))

    def turned_away(self, seconds: float) -> None:
        """Keeps it."""
        self.overloads.append(seconds)


def run(
    evictions: Iterable[PlannedEviction],
    api: ScriptedApi,
    settings: DispatchSettings = ONE_BY_ONE,
    *,
    clock: Clock | None = None,
    stop: threading.Event | None = None,
    sink: Heard | None = None,
    why_not_call: Callable[[], str] = lambda: "",
) -> tuple[Outcome, ...]:
    """The outcomes of an execution, whose time passes on `clock` only."""
    return execute(evictions, api, settings, around(settings, clock, stop=stop, sink=sink, why_not_call=why_not_call))


def around(
    settings: DispatchSettings,
    clock: Clock | None = None,
    *,
    stop: threading.Event | None = None,
    sink: OutcomeSink | None = None,
    why_not_call: Callable[[], str] = lambda: "",
) -> Surroundings:
    """What an execution goes by whose time passes on `clock` only."""
    clock, stop = clock or Clock(), stop or threading.Event()
    return Surroundings(
        calls=AtOnce(),
        paces=Paces(settings, now=clock.now),
        open_calls=OpenCalls(settings.effect_seconds, now=clock.now),
        halted=Halting(stop, settings.deadline, why_not_call, clock.now),
        why_not_call=why_not_call,
        clock=clock.now,
        now=lambda: NOW + timedelta(seconds=clock.now()),
        sleep=clock.sleep,
        sink=sink,
    )


def make_plan(*names: str) -> list[PlannedEviction]:
    """An eviction for each name."""
    return [make_eviction(name) for name in names]


def codes(outcomes: Iterable[Outcome]) -> list[tuple[str, OutcomeCode]]:
    """Names of pods with what became of them."""
    return [(outcome.eviction.name, outcome.code) for outcome in outcomes]
