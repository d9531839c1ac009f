"""Moves of a plan, and candidates that stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from descheduler.model.held_room import HeldRoom, HeldRooms
from descheduler.model.pod import Pod
from descheduler.model.verdict import Verdict

if TYPE_CHECKING:  # a plan without landings must not pay for numpy
    from descheduler.placement.landings.landing import Landing

PodIdentity = tuple[str, str, str]
"""What tells a pod of a snapshot from all others, also from one of the same name and from one without a uid."""


def identity_of(pod: Pod) -> PodIdentity:
    """The identity of `pod`."""
    return pod.uid, pod.namespace, pod.name


class Move(msgspec.Struct, frozen=True):
    """An eviction that was granted, and in whose name. `reason` is a sentence.

    `is_repeated` marks a further request for a pod that the plan moves already. `landing` is where the replacement
    lands, as it was when the eviction was granted; None where it was not predicted. Moves of the same `bundle` leave
    together; 0 is that of a pod that leaves alone. Moves of a `wave` may run together; those of the next need room that
    these leave. `cost` is what the disruption of the pod costs for the planner that chose it, in thousandths of an
    ordinary eviction; None where costs were not compared. On the node `held_on` room is held for the replacement, so
    that it lands there; "" where the scheduler chooses. `rooms` are held for other pods where it leaves. `serves` are
    the pending pods that can be scheduled because it leaves with the others of its bundle; none for moves of other
    objectives. Where not all moves can be made at once, those of an earlier `turn` come first.
    """

    pod: Pod
    profile: str
    plugin: str
    reason: str = ""
    is_repeated: bool = False
    landing: Landing | None = None
    bundle: int = 0
    wave: int = 1
    cost: int | None = None
    held_on: str = ""
    rooms: tuple[HeldRoom, ...] = ()
    serves: tuple[Pod, ...] = ()
    turn: int = 0

    @property
    def held(self) -> HeldRooms:
        """What is held when it leaves."""
        return HeldRooms(self.held_on, self.rooms)

    @property
    def to_node(self) -> str | None:
        """The node that the replacement lands on; None when it lands nowhere, or when that was not looked up."""
        return None if self.landing is None else self.landing.node

    def is_of(self, profile: str, plugin: str) -> bool:
        """Whether this plugin of this profile has asked for it."""
        return self.profile == profile and self.plugin == plugin


class EarlierPlan(msgspec.Struct, frozen=True):
    """Moves that were decided on before: plugins that search ask for theirs among them in place of a search.

    With `is_checked` they first look whether there is still something for them to do.
    """

    moves: Sequence[Move]
    is_checked: bool = False


class Refusal(msgspec.Struct, frozen=True, gc=False):
    """A pod that a plugin selected, and why it stays. `is_attempt` when limits or the API said no.

    `reason` is the sentence with which the plugin selected it, "" where it gave none.
    """

    pod: Pod
    profile: str
    plugin: str
    verdict: Verdict
    is_attempt: bool
    reason: str = ""
