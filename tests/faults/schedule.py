"""A schedule: everything that is decided before the program starts, drawn from one seed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from tests.faults.disturbances import Disturbance, Event
from tests.faults.faults import Delivery, Fault, Requests
from tests.faults.history import Terms
from tests.faults.menus import menu_for
from tests.faults.objects import PATHS
from tests.faults.rooms.trouble import draw_deletions, draw_room_disturbances, draw_room_rules
from tests.faults.rooms.worlds import draw_room_world
from tests.faults.rules import Rule
from tests.faults.worlds import World, draw_world

_ROOM_SHARE = 0.45
"""Of the schedules in which pods are moved by jobs."""
_NEEDED_LISTS = ("/api/v1/nodes", "/api/v1/pods", "/apis/policy/v1/poddisruptionbudgets")


class Output(StrEnum):
    """Where standard output leads."""

    FILE = "file"
    GONE = "reader gone"
    FULL = "disk full"


@dataclass(frozen=True, slots=True)
class Credentials:
    """What the kubeconfig and the policy's Secret hold. `token` is what the server accepts, `written` what is written
    down, in a file of its own or in the kubeconfig; the password is part of the server's address."""

    token: str = ""
    written: str = ""
    is_in_file: bool = False
    next_token: str = ""
    password: str = ""
    prometheus_secret: str = ""
    prometheus_password: str = ""

    @property
    def canaries(self) -> tuple[str, ...]:
        """Texts that nobody may ever read in an output."""
        texts = (self.token, self.next_token, self.password, self.prometheus_secret, self.prometheus_password)
        return tuple(text for line in texts for text in line.split() if text)


@dataclass(frozen=True, slots=True)
class Schedule:
    """One seed's schedule."""

    seed: int
    world: World
    terms: Terms
    flags: tuple[str, ...]
    rules: Mapping[Requests, Rule] = field(default_factory=dict)
    is_lucky: bool = False
    at_write: tuple[int, Fault] | None = None
    disturbances: tuple[Disturbance, ...] = ()
    credentials: Credentials = Credentials()
    is_tls: bool = False
    page_size: int = 500
    grace_seconds: float = 0.0
    output: Output = Output.FILE
    writes_metrics: bool = False
    runs_again: bool = False

    @property
    def has_bomb(self) -> bool:
        """Whether an answer may be huge, so that few such schedules should be played at once."""
        return any(fault.delivery is Delivery.BOMB for rule in self.rules.values() for fault in rule.menu)


def draw_schedule(seed: int) -> Schedule:
    """The schedule of a seed."""
    draw = random.Random(f"schedule {seed}")
    has_rooms = random.Random(f"rooms {seed}").random() < _ROOM_SHARE
    world = draw_room_world(draw) if has_rooms else draw_world(draw)
    is_tls = draw.random() < (0.1 if has_rooms else 0.35)
    credentials = _draw_credentials(draw, world, is_tls=is_tls)
    is_paused = draw.random() < (0.0 if has_rooms else 0.08)
    terms, flags = _draw_terms(draw, world, credentials, is_paused=is_paused)
    rules = draw_room_rules(draw, terms) if has_rooms else _draw_rules(draw, world, terms)
    disturbances = draw_room_disturbances(draw) if has_rooms else ()
    disturbances = disturbances or _draw_disturbances(draw, terms, credentials, is_paused=is_paused)
    if has_rooms:
        disturbances += draw_deletions(random.Random(f"deletions {seed}"), terms)
    return Schedule(
        seed=seed,
        world=world,
        terms=terms,
        flags=flags,
        rules=rules,
        disturbances=disturbances,
        credentials=credentials,
        is_tls=is_tls,
        page_size=draw.choice((3, 7, 500)),
        grace_seconds=draw.choice((0.0, 0.0, 0.5, 60.0) if has_rooms else (0.0, 0.0, 2.0, 60.0)),
        output=draw.choices(list(Output), weights=(92, 4, 4))[0],
        writes_metrics=draw.random() < 0.3,
        runs_again=draw.random() < 0.6 or any(each.event is Event.SIGKILL for each in disturbances),
    )


def _draw_credentials(draw: random.Random, world: World, *, is_tls: bool) -> Credentials:
    credentials = Credentials()
    if is_tls:
        token = f"canary-token-{draw.getrandbits(40):010x}"
        ending = draw.choices(("", "\n", "\r\n", "\ncanary-second-line", " "), weights=(14, 2, 1, 1, 1))[0]
        written = token + ending
        in_file = draw.random() < 0.6
        following = f"canary-next-{draw.getrandbits(40):010x}" if in_file and not ending.strip() else ""
        credentials = Credentials(token, written, in_file, following)
        if draw.random() < 0.08:
            credentials = replace(credentials, password=f"canary-url-{draw.getrandbits(40):010x}")
    if world.asks_prometheus:
        secret = f"canary-prom-{draw.getrandbits(40):010x}" + draw.choice(("", "\n", "\r\n", "\ncanary-inner"))
        password = f"canary-pass-{draw.getrandbits(40):010x}" if draw.random() < 0.5 else ""
        credentials = replace(credentials, prometheus_secret=secret, prometheus_password=password)
    return credentials


def _draw_terms(
    draw: random.Random, world: World, credentials: Credentials, *, is_paused: bool
) -> tuple[Terms, tuple[str, ...]]:
    # What waits for the replacements of pods has no end of its own that a schedule could wait for.
    deadline_seconds = draw.choice((8.0, 12.0, 16.0) if world.provider else (None, 2.5, 4.0, 6.0, 9.0))
    timeout_seconds = draw.choice((1.0, 1.0, 2.0, 3.0))
    lease_seconds = draw.choice((None, 4, 6, 60))
    qps = draw.choice((2, 5, 20, 100))
    burst = draw.choice((1, 4, 20))
    if is_paused:
        # One call at a time: nothing can save one that was checked just before the process stood still.
        lease_seconds, qps, burst = 3, 5, 1
    terms = Terms(
        limits=world.limits,
        deadline_seconds=deadline_seconds,
        request_timeout_seconds=timeout_seconds,
        lease_seconds=lease_seconds,
        is_detailed=draw.random() < 0.5,
        is_json=draw.random() < 0.85,
        canaries=credentials.canaries,
        protected=world.protected,
        unasked=world.unasked,
    )
    flags = [f"--request-timeout={timeout_seconds:g}s"]
    flags += [f"--client-connection-qps={qps}", f"--client-connection-burst={burst}"]
    flags += [f"--deadline={deadline_seconds:g}s"] if deadline_seconds else []
    flags += [f"--lease-duration={lease_seconds}s"] if lease_seconds else ["--no-lease"]
    flags += ["--output=json"] if terms.is_json else [f"--output={draw.choice(('table', 'wide'))}"]
    flags += ["--detailed-exitcode"] if terms.is_detailed else []
    flags += [f"--log-format={draw.choice(('text', 'json'))}", f"-v={draw.choice((0, 1, 6))}"]
    return terms, tuple(flags)


def _draw_rules(draw: random.Random, world: World, terms: Terms) -> dict[Requests, Rule]:
    """Reading is sound in half of the schedules, and recovers in a third; so evictions are really made."""
    rules: dict[Requests, Rule] = {}
    mode = draw.choices(("sound", "recovering", "lasting"), weights=(55, 33, 12))[0]
    if mode == "sound" and draw.random() < 0.1:  # nothing goes wrong with any call
        return rules
    if mode != "sound":
        rules |= _reading_rules(draw, world, terms, is_lasting=mode == "lasting")
    if mode == "sound" or draw.random() < 0.7:
        rate = draw.choice((0.15, 0.3, 0.6, 1.0, 1.0))
        menu = menu_for(
            Requests.EVICTION, draw, timeout_seconds=terms.request_timeout_seconds, num_faults=draw.randint(1, 3)
        )
        most = draw.choice((1, 2, 5, None, None, None))
        if terms.deadline_seconds is None:
            most = draw.choice((1, 2, 4))  # one after the other they would take minutes
        rules[Requests.EVICTION] = Rule(menu, rate, most, holds_in_second_run=draw.random() < 0.5)
    for kind, share in ((Requests.POD, 0.45), (Requests.LEASE, 0.15), (Requests.EVENT, 0.25)):
        if draw.random() < share:
            rules[kind] = _rule(draw, kind, terms, most=draw.choice((1, 3, None if kind is Requests.POD else 5)))
    return rules


def _reading_rules(draw: random.Random, world: World, terms: Terms, *, is_lasting: bool) -> dict[Requests, Rule]:
    kinds = [Requests.LIST, Requests.LIST, Requests.LIST, Requests.DISCOVERY]
    if world.asks_prometheus:
        kinds += [Requests.SECRET, Requests.PROMETHEUS, Requests.PROMETHEUS]
    kind = draw.choice(kinds)
    rule = _rule(draw, kind, terms, most=None if is_lasting else draw.randint(1, 3))
    if kind is not Requests.LIST:
        return {kind: rule}
    paths = draw.choice((frozenset(_NEEDED_LISTS), frozenset({draw.choice(_NEEDED_LISTS)}), frozenset(PATHS)))
    return {kind: replace(rule, paths=paths)}


def _rule(draw: random.Random, kind: Requests, terms: Terms, *, most: int | None) -> Rule:
    menu = menu_for(kind, draw, timeout_seconds=terms.request_timeout_seconds, num_faults=draw.randint(1, 2))
    return Rule(menu, draw.choice((0.3, 1.0, 1.0)), most, holds_in_second_run=draw.random() < 0.5)


def _draw_disturbances(
    draw: random.Random, terms: Terms, credentials: Credentials, *, is_paused: bool
) -> tuple[Disturbance, ...]:
    found = []
    moments = (Requests.LIST, Requests.EVICTION, Requests.EVICTION, Requests.EVENT, Requests.DISCOVERY)
    if is_paused:
        found.append(Disturbance(Event.PAUSE, Requests.EVICTION, draw.randint(1, 3)))
    elif draw.random() < 0.2:
        event = draw.choice((Event.SIGTERM, Event.SIGINT))
        found.append(Disturbance(event, draw.choice(moments), draw.randint(1, 4), draw.choice((0.0, 0.05, 0.5))))
    elif terms.lease_seconds is not None and draw.random() < 0.12:
        event = draw.choice((Event.LEASE_SEIZED, Event.LEASE_DELETED))
        found.append(Disturbance(event, Requests.EVICTION, draw.randint(1, 4)))
    if credentials.next_token and draw.random() < 0.6:
        found.append(Disturbance(Event.TOKEN_ROTATED, draw.choice(moments[:2]), draw.randint(1, 3)))
    if draw.random() < 0.12:
        found.append(Disturbance(Event.PODS_DELETED, Requests.EVICTION, draw.randint(1, 3)))
    return tuple(found)
