"""What keeps a pod off a node, as values: words are made of them once, and no code reads the words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, Protocol, runtime_checkable

from descheduler.model.requests import PODS
from descheduler.model.verdict import Reason, Verdict, refuse


class Code(Enum):
    """How final a rejection is. Preemption might help `UNSCHEDULABLE`; `UNDECIDED` is what a snapshot cannot tell.
    `ERROR` ends the whole attempt, whatever is said of other nodes."""

    UNSCHEDULABLE = "U"
    UNRESOLVABLE = "UU"
    UNDECIDED = "unknown"
    ERROR = "Error"


class Fact(Protocol):
    """One thing that a plugin has against a pod, in a type of the plugin's own."""

    @property
    def reason(self) -> str:
        """In the words of the scheduler's events."""

    @property
    def short(self) -> str:
        """As part of a sentence about nodes, such as `untolerated taint`."""


@runtime_checkable
class FactOfObject(Fact, Protocol):
    """A fact about an object that keeps a pod off all nodes at once, such as a quota."""

    @property
    def eviction_reason(self) -> Reason:
        """The reason code of an eviction that is refused because its replacement pod meets this."""

    @property
    def subject(self) -> str:
        """The name of the object."""


class ObstacleReason(Enum):
    """Facts that need no more than a name: the reasons of one plugin, which derives an enum of its own from this.

    A member is its bit in `ReasonBits` (0 for what is said of no node), the words of events and, where they are not the
    same, those of sentences.
    """

    def __init__(self, bit: int, reason: str, short: str = "") -> None:
        self.bit = bit
        self.reason = reason
        self.short = short or reason


class Said(NamedTuple):
    """A fact that is nothing but words: those of events, and the same for every pod that it concerns."""

    reason: str
    short: str

    @classmethod
    def alike(cls, text: str) -> Said:
        """With the same words in both places."""
        return cls(text, text)


class Shortage(NamedTuple):
    """A resource of which a node has too little: what the pod asks for, what it may use, and what there is in all.

    `free` is negative on an overcommitted node; it holds what plugins grant the pod on top. Units are those of the node
    table.
    """

    resource: str
    requested: int
    free: int
    allocatable: int

    @property
    def reason(self) -> str:
        return "Too many pods" if self.resource == PODS else f"Insufficient {self.resource}"

    @property
    def short(self) -> str:
        return "too many pods" if self.resource == PODS else f"insufficient {self.resource}"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What one plugin has against a pod, on one node or everywhere; `reasons` are the scheduler's words.

    `facts` are what the reasons are made from, in the same order; empty where there is nothing to tell but words.
    `is_brief` marks a state of seconds, or one that hangs on when the scheduler was started: it may say something else.
    """

    plugin: str
    code: Code
    reasons: tuple[str, ...]
    facts: tuple[Fact, ...] = field(default=(), compare=False)
    is_brief: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, plugin: str, code: Code, *facts: Fact, is_brief: bool = False) -> Obstacle:
        """The obstacle of these facts."""
        return cls(plugin, code, tuple(fact.reason for fact in facts), facts, is_brief)

    @property
    def is_open(self) -> bool:
        """Whether the pod may be scheduled all the same: a snapshot cannot tell, or what it tells does not last."""
        return self.is_brief or self.code is Code.UNDECIDED

    def refusal(self, message: str) -> Verdict:
        """The refusal of an eviction whose replacement pod this keeps off all nodes, `message` being its sentence.

        The first fact about an object names the reason code and the object; without any it is `NO_LANDING`.
        """
        of_object = next((fact for fact in self.facts if isinstance(fact, FactOfObject)), None)
        if of_object is None:
            return refuse(Reason.NO_LANDING, message)
        return refuse(of_object.eviction_reason, message, of_object.subject)

    @property
    def short(self) -> tuple[str, ...]:
        """The reasons as parts of a sentence about nodes, in the same order."""
        return tuple(fact.short for fact in self.facts) or self.reasons


def cause_of(undecided: Sequence[Obstacle]) -> str:
    """The first thing that plugins cannot tell, and their names: the same for every pod that it concerns."""
    short = undecided[0].short
    plugins = dict.fromkeys(obstacle.plugin for obstacle in undecided if obstacle.short == short)
    return f"{', '.join(short)} ({', '.join(plugins)})"
