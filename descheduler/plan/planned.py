"""What the dispatcher is asked to do: one eviction of a plan, and its move once its turn has come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from descheduler.model.pod import Owner, Pod

if TYPE_CHECKING:  # a plan without landings must not pay for numpy
    from descheduler.placement.landings.landing import Landing


class PlannedRoom(msgspec.Struct, frozen=True):
    """Room on `node`, where others leave, that is to be held for a pending pod.

    Pods that leave later are not named so: their own evictions hold room for their replacements.
    """

    namespace: str
    name: str
    uid: str
    node: str


class PlannedEviction(msgspec.Struct, frozen=True):
    """One eviction of a plan.

    `node` is "" for a pod that is bound nowhere. `reason` is the plugin's sentence, for logs and reports, and `landing`
    where the replacement is expected, None where it was not predicted. `request_evict_only` says that the pod has the
    annotation `descheduler.alpha.kubernetes.io/request-evict-only`. `grace_period_seconds` is sent with it, None leaves
    it to the pod. An eviction that is `dry` is shown and never sent. `controller` is the owner that creates the
    replacement, None without one, and `labels` are those of the pod: by both a replacement is known.
    Evictions of the same `bundle` leave together; 0 is that of a pod that leaves alone. Those of one `wave` may be
    under way together; those of the next need room that these leave. `held_on` is the node on which room is to be held
    for the replacement, "" where the scheduler chooses it. `rooms` are to be held for pending pods. `users_job` is the
    name of the PodMigrationJob by which a user has asked for it, "" for what a plugin has.
    """

    namespace: str
    name: str
    uid: str
    node: str
    profile: str
    plugin: str
    reason: str = ""
    landing: Landing | None = None
    request_evict_only: bool = False
    grace_period_seconds: int | None = None
    dry: bool = False
    bundle: int = 0
    wave: int = 1
    controller: Owner | None = None
    labels: Mapping[str, str] = msgspec.field(default_factory=dict)
    held_on: str = ""
    rooms: tuple[PlannedRoom, ...] = ()
    users_job: str = ""

    @property
    def controller_uid(self) -> str:
        """The UID of the controller, "" without one."""
        return "" if self.controller is None else self.controller.uid

    @property
    def workload(self) -> str:
        """Of whose pods it is one: two evictions of one workload are not under way at once."""
        return self.controller_uid or self.uid

    @property
    def annotation(self) -> str:
        """The text of the eviction's annotation `reason`, as kubernetes-sigs/descheduler 0.36 writes it.

        No plugin of that gives a reason of its own, so nothing follows the colon.
        """
        return f"triggered by {self.profile}/{self.plugin}: "


@dataclass(frozen=True, slots=True)
class DueMove:
    """A move whose turn has come: its pod as it was just read, and the node where room is held, "" where none is.

    `job_uid` is that of the job for which room is held. Where the successor `has_landed` it needs no room any more.
    """

    eviction: PlannedEviction
    pod: Pod
    room_node: str = ""
    job_uid: str = ""
    has_landed: bool = False
