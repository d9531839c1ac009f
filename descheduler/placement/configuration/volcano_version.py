"""The release of Volcano that schedules, and what it makes of a configuration."""

from __future__ import annotations

import re

import msgspec

from descheduler.documents.problems import shown

__all__ = ["MEASURED", "MODELLED_ACTIONS", "VolcanoVersion"]

_RELEASE = re.compile(r"v?([0-9]{1,4})\.([0-9]{1,4})(?:\.[0-9]{1,4})?", re.ASCII)
MODELLED_ACTIONS = ("enqueue", "allocate", "backfill", "preempt", "reclaim")
"""In the order in which messages list them."""
_UNMEASURED = "queue states and hierarchies, network topology, nominated nodes"


class VolcanoVersion(msgspec.Struct, frozen=True, order=True):
    """The release of Volcano that schedules. Behaviour is that of 1.10, which was measured."""

    major: int = 1
    minor: int = 10

    @classmethod
    def parse(cls, text: str) -> VolcanoVersion:
        """The release of `1.14`, `v1.14` or `1.14.2`. Raises ValueError for anything else."""
        found = _RELEASE.fullmatch(text)
        if found is None:
            raise ValueError(f"{shown(text)} is not a release of Volcano, for example 1.14")
        return cls(int(found[1]), int(found[2]))

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions that a configuration may name."""
        known = (*MODELLED_ACTIONS, "shuffle")
        return (*known, "gangpreempt", "gangreclaim") if self >= _WITH_GANG_ACTIONS else known

    @property
    def reads_quoted_bools(self) -> bool:
        """Whether `"true"` is a boolean argument."""
        return self > MEASURED

    @property
    def doubt(self) -> str:
        """Why a session of this release may decide otherwise than the modelled one; "" for the release measured."""
        return (
            "" if self == MEASURED else f"Volcano {self.major}.{self.minor} differs from Volcano 1.10 ({_UNMEASURED})"
        )


MEASURED = VolcanoVersion()
_WITH_GANG_ACTIONS = VolcanoVersion(1, 16)
