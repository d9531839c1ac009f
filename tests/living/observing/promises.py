"""What a migration promises, and the limits that it was given."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tests.living.store import Object


class Promise(StrEnum):
    """The promises that are watched."""

    BUDGET = "no budget is violated"
    CAPACITY = "no node holds more than it has"
    ONCE = "no pod is evicted again"
    REPLACEMENT = "no replacement is evicted"
    LIMIT = "no limit is exceeded"
    QUOTA = "no quota is exceeded"
    NOTHING_LOST = "no workload loses a pod"
    ROOM_RELEASED = "no room stays held"
    JOB_ENDED = "no job stays open"
    SERVED = "no surged workload is ever below its replicas"
    SCALED_BACK = "what was scaled up is scaled back once, and nobody's number is overwritten"


@dataclass(frozen=True, slots=True)
class Broken:
    """A promise that was broken, in a sentence, by the API call of this number (0: by none), at this time."""

    promise: Promise
    sentence: str
    call: int
    at: float

    def __str__(self) -> str:
        by = f"request {self.call}: " if self.call else ""
        return f"{self.at:.2f} s: {by}{self.sentence} ({self.promise})"


@dataclass(frozen=True, slots=True)
class Limits:
    """How many pods may be evicted in all, and how many at once: those count until their replacements are ready.

    None is no limit.
    """

    total: int | None = None
    per_node: int | None = None
    per_namespace: int | None = None
    at_once: int | None = None
    at_once_per_node: int | None = None
    at_once_per_namespace: int | None = None
    at_once_per_workload: int | None = None


@dataclass(frozen=True, slots=True)
class Departure:
    """A pod that was evicted or deleted by the program; `owner` is the uid of its controller, "" for a bare pod."""

    pod: Object
    owner: str
    call: int
    at: float

    @property
    def uid(self) -> str:
        """The pod's uid."""
        return str(self.pod["metadata"]["uid"])

    @property
    def name(self) -> str:
        """The pod in sentences."""
        return f"{self.namespace}/{self.pod['metadata']['name']}"

    @property
    def namespace(self) -> str:
        """The pod's namespace."""
        return str(self.pod["metadata"]["namespace"])

    @property
    def node(self) -> str:
        """Where the pod was."""
        return str(self.pod["spec"].get("nodeName", ""))
