"""What the evictor is asked for: pods that some plugin wants to move, all or none of them."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from descheduler.model.held_room import HeldRoom, HeldRooms
from descheduler.model.pod import Pod


class Candidate(msgspec.Struct, frozen=True):
    """A pod that a plugin wants to move. `reason` is the sentence that the plan shows.

    `target_node` is where its replacement is meant to land, "" where any node will do; with `holds_target` room is held
    for it there, so that it does, and `rooms` for other pods where it leaves. `is_mate` says that the plugin did not
    select it: it leaves because others of the bundle do. `wave`, `cost` and `serves` as in a move.
    """

    pod: Pod
    reason: str = ""
    target_node: str = ""
    holds_target: bool = False
    is_mate: bool = False
    wave: int = 1
    cost: int | None = None
    rooms: tuple[HeldRoom, ...] = ()
    serves: tuple[Pod, ...] = ()

    @property
    def held_on(self) -> str:
        """The node on which room is held for the replacement, "" for none."""
        return self.target_node if self.holds_target else ""

    @property
    def held(self) -> HeldRooms:
        """What is held when it leaves."""
        return HeldRooms(self.held_on, self.rooms)

    def holding(self, held: HeldRooms) -> Candidate:
        """The same with what is `held`; as it is where no room is held for its replacement."""
        if not held.on:
            return self
        return msgspec.structs.replace(self, target_node=held.on, holds_target=True, rooms=held.rooms)


class Bundle(msgspec.Struct, frozen=True):
    """Candidates that `plugin` of `profile` wants to move together: granted or refused whole.

    `profile_index` is the place of the profile in the policy; names may repeat in a DeschedulerPolicy.
    Raises ValueError when a pod is in it twice.
    """

    profile: str
    plugin: str
    candidates: tuple[Candidate, ...]
    profile_index: int = 0

    def __post_init__(self) -> None:
        """Checks that no pod is in it twice."""
        if len(self.candidates) > 1 and len(set(map(id, self.pods))) < len(self.candidates):
            names = ", ".join(sorted(pod.key for pod in self.pods))
            raise ValueError(f"a pod is in the bundle of {self.plugin} twice: {names}")

    @property
    def pods(self) -> tuple[Pod, ...]:
        """Its pods, in the order in which they leave."""
        return tuple(candidate.pod for candidate in self.candidates)

    def with_mates(self, mates: Iterable[Pod], reason: str) -> Bundle:
        """The bundle with pods that leave for `reason` because its own do."""
        return replace(self, candidates=(*self.candidates, *(Candidate(pod, reason, is_mate=True) for pod in mates)))

    def only(self, candidates: Iterable[Candidate]) -> Bundle:
        """The bundle with these of its candidates alone."""
        return replace(self, candidates=tuple(candidates))
