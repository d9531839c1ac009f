"""What a prover keeps of each victim: what it decided, what that changed, and how it was asked."""

from __future__ import annotations

import msgspec

from descheduler.model.held_room import HeldRooms
from descheduler.model.pod import Pod
from descheduler.placement.landings.candidates import LandingCandidate
from descheduler.placement.landings.landing import Landing
from descheduler.placement.shadow.undo_log import WhatIf

__all__ = ["Booking", "Considered", "Decision"]


class Decision(msgspec.Struct, frozen=True, gc=False):
    """A landing, and the pod that is left without a node by it."""

    landing: Landing
    homeless: Pod | None = None


class Booking(msgspec.Struct, frozen=True):
    """A victim that is booked, what that changed, and the pod that is left without a node by it.

    `node` is where its replacement is predicted, None where it is nowhere; any of `ties` is as likely. With `is_open`
    the choice of its scheduler is unknown.
    """

    candidate: LandingCandidate
    changes: WhatIf
    homeless: Pod | None
    node: str | None = None
    ties: tuple[str, ...] = ()
    is_open: bool = False


class Considered(msgspec.Struct, frozen=True):
    """A victim that was asked about. What its eviction changes stays until something else is asked, as it is mostly
    booked."""

    victim: Pod
    held: HeldRooms
    candidate: LandingCandidate
    decision: Decision
    changes: WhatIf

    def is_about(self, victim: Pod, held: HeldRooms) -> bool:
        """Whether it was asked with the same room held for the replacement and for other pods."""
        return self.victim is victim and self.held == held
