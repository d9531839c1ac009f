"""Why Coscheduling refuses a pod: gangs without settings, and gangs with too few pods."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from descheduler.model.verdict import Reason


class GangReason(Enum):
    """Why a gang keeps its pods back; the value is the scheduler's phrase."""

    NO_GANG = "doesn't exists"
    """There is neither a PodGroup nor a pod of a gang of the group."""
    NO_SETTINGS = "has not init"
    """The size of the gang is unknown: the PodGroup that pods name does not exist."""
    TOO_FEW_PODS = "child pod not collect enough"
    """Fewer pods exist than the gang needs."""
    TOO_FEW_WAITING = "gets rejected"
    """Fewer pods than the gang needs find a node at the same time."""
    BY_ORDER = "is bound or not by the order in which its pods are created"
    """Some gangs of the group are scheduled pod by pod, as they have been satisfied once, and others are not."""
    SURPLUS = "is bound or not by whether it finds a node before the others are let go"
    """The gang counts only pods that wait, and as many as it needs were admitted already: koord-scheduler 1.8 was seen
    to bind one more that was created with them, and to leave it pending."""


class GangShortage(NamedTuple):
    """A gang with fewer pods than it needs: `required` of them have to count, and `present` do."""

    gang_id: str
    present: int
    required: int

    @property
    def name(self) -> str:
        """The gang for people: a group may list an empty name."""
        return self.gang_id or "'' (an empty name)"

    @property
    def missing(self) -> int:
        """How many more it takes."""
        return max(0, self.required - self.present)

    @property
    def text(self) -> str:
        """The gang with its figures."""
        return f"{self.name} ({self.present} of {self.required})"


class MissingMembers(NamedTuple):
    """What the group `group` lacks, `gangs` being those of it that are at fault. `current` is the pod's own gang.

    Up to `num_more` gangs are at fault as well, and too many to be looked at and named. The figures of a gang
    without settings are all 0.
    """

    why: GangReason
    group: Sequence[str]
    current: str
    gangs: tuple[GangShortage, ...]
    num_more: int = 0

    @property
    def reason(self) -> str:
        """In the words of the scheduler, which it logs, and writes into events of pods that were tried."""
        group = " ".join(self.group)
        if self.why is GangReason.TOO_FEW_WAITING:
            return f'GangGroup "{",".join(self.group)}" {self.why.value}: {self.short}'
        names = " ".join(gang.gang_id for gang in self.gangs)
        return f"gangGroup [{group}] basic check: memberGangs [{names}] {self.why.value}, current gang: {self.current}"

    @property
    def eviction_reason(self) -> Reason:
        """The reason code of an eviction after which the gang keeps the replacement pod back."""
        return Reason.NO_LANDING

    @property
    def subject(self) -> str:
        """The pod's own gang."""
        return self.current

    @property
    def short(self) -> str:
        """As a sentence of its own."""
        names = ", ".join(gang.name for gang in self.gangs)
        match self.why:
            case GangReason.NO_GANG:
                return f"gang {names} of the same group does not exist"
            case GangReason.NO_SETTINGS:
                return f"gang {names} has no PodGroup and no valid minMember"
            case GangReason.TOO_FEW_PODS:
                return f"too few pods of gang {self._figures} exist"
            case GangReason.BY_ORDER:
                return f"the group of gangs {names} {self.why.value}"
            case GangReason.SURPLUS:
                return f"a further pod of gang {names} {self.why.value}"
            case GangReason.TOO_FEW_WAITING:
                return f"too few pods of gang {self._figures} can be scheduled together"

    @property
    def _figures(self) -> str:
        named = ", ".join(gang.text for gang in self.gangs)
        return f"{named} and up to {self.num_more} more" if self.num_more else named
