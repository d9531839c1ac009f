"""What is published of a node: what it holds, which pods leave it, and which come."""

from __future__ import annotations

from typing import Literal

import msgspec

from descheduler.documents.fields import Fields
from descheduler.explanation.landings import LandingCount
from descheduler.report.document import PodReference
from descheduler.report.plan.document import LandingCause, LandingWord


class NodeResource(Fields, frozen=True):
    """One resource of a node: cpu in milli cores, all else in whole units.

    `requested` is the sum of the requests now, `planned` after the run: without the evicted pods and with the pending
    pods and the replacements that are scheduled onto it. Without a policy the two are equal.
    """

    resource: str
    allocatable: int
    requested: int
    planned: int


class BatchFigures(Fields, frozen=True):
    """What cpu (milli cores) or memory (bytes) of a node is left for best-effort pods of Koordinator.

    `margin` is kept free; `reserved` is the larger of what the kubelet and the reservation of the node withhold;
    `system_used` is at least that; `pods_used` and `pods_requested` are of pods that are not best effort.
    `allocatable` is what usage leaves to batch pods by Koordinator's default settings, 0 while the measurement is older
    than 15 minutes; `published` is what the node states. `limit` is how much cpu best-effort pods may use now.
    """

    resource: str
    capacity: int
    margin: int
    reserved: int
    system_used: int
    pods_used: int
    pods_requested: int
    allocatable: int
    published: int
    limit: int | None


class NodeDevices(Fields, frozen=True):
    """Devices of ResourceSlices that pods on the node can use, of one driver and DeviceClass.

    A device that several classes select counts for each; `device_class` is empty where none selects it. `in_use`
    devices are allocated, `shared` ones in part. `tainted` ones are not in use and have a taint of effect NoSchedule or
    NoExecute. `unusable` ones belong to an incomplete or invalid pool, or need more shared counters than are left. All
    others are `free`, and `planned_free` after the run; without a policy the two are equal.
    """

    driver: str
    device_class: str = msgspec.field(name="class")
    num_devices: int = msgspec.field(name="devices")
    in_use: int
    shared: int
    tainted: int
    unusable: int
    free: int
    planned_free: int


class NodeFacts(Fields, frozen=True):
    """The node as the snapshot has it. `taints` are written `key=value:Effect`.

    `num_pods` counts the pods that have not finished. `batch` is empty where Koordinator measures nothing, `devices`
    where no ResourceSlice has devices for the node.
    """

    name: str
    is_ready: bool = msgspec.field(name="ready")
    is_cordoned: bool = msgspec.field(name="cordoned")
    taints: tuple[str, ...]
    num_pods: int = msgspec.field(name="pods")
    resources: tuple[NodeResource, ...]
    batch: tuple[BatchFigures, ...]
    devices: tuple[NodeDevices, ...]


class Departure(Fields, frozen=True):
    """A pod that is evicted from the node, and where its replacement would be scheduled.

    `landing` is null when no replacement is created, `to` when no node is available. `message` says why it cannot be
    scheduled, or under which condition it can.
    """

    pod: PodReference
    profile: str
    plugin: str
    reason: str
    landing: LandingWord | None
    to_node: str | None = msgspec.field(name="to")
    message: str


class Stay(Fields, frozen=True):
    """A pod that a plugin selected and that is not evicted, with the first rule that blocks its eviction."""

    pod: PodReference
    profile: str
    plugin: str
    code: str
    message: str
    subject: str


class StayCount(Fields, frozen=True):
    """How many pods of the node are not evicted for one reason; the code is empty for pods that no plugin selects."""

    code: str
    summary: str
    num_pods: int = msgspec.field(name="pods")


class NotSelected(Fields, frozen=True):
    """Why `plugin` does not select so many pods of the node that no plugin selects; `pod` is the first of them."""

    profile: str
    plugin: str
    message: str
    num_pods: int = msgspec.field(name="pods")
    pod: PodReference


class ExpectedArrival(Fields, frozen=True):
    """A replacement of an evicted pod that is predicted on this node; any of `nodes` is as likely."""

    pod: PodReference
    from_node: str = msgspec.field(name="from")
    plugin: str
    landing: LandingWord
    nodes: tuple[str, ...]


class NodeLanding(Fields, frozen=True):
    """Where the replacement of one pod of the node would be scheduled if only that pod were evicted now.

    `landing` is null when no replacement is created; `message` says why it cannot be scheduled, or under which
    condition it can.
    """

    pod: PodReference
    landing: LandingWord | None
    to_node: str | None = msgspec.field(name="to")
    message: str


class DrainBlocker(Fields, frozen=True):
    """Something that blocks draining the node at one pod. `subject` names the cause, such as the budget.

    With a policy `blocker` is the reason code with which a run of the policy refuses the eviction, or that of a
    replacement that cannot be scheduled. Without one it is what blocks `kubectl drain` without flags:
    `PodDisruptionBudget`, `BarePod`, `LocalStorage` or `DaemonSet`.
    """

    pod: PodReference
    blocker: str
    message: str
    subject: str


class NodeExplanation(Fields, frozen=True):
    """Everything about one node.

    With a policy, `departures`, `stays`, `stay_counts` and `arrivals` are those of one run, `not_selected` has the most
    frequent sentences of plugins about pods that none of them selects, `pending_pods` would be
    scheduled onto the node after it, and `unjudged` says why no plugin ran, else it is empty. Without one, `landings`
    says for each pod where its replacement would be scheduled. `landing_counts` and `causes` count the replacements of
    the departures, or else those in `landings`. `drain_blockers` say what blocks draining the node in a run of its own;
    without a policy a pod can have several. `blocked_in_run` says why the run, which is to drain the node with others,
    does not drain it; empty where it does, or is not to.
    """

    facts: NodeFacts
    role: Literal["judged", "left out", "without policy"]
    unjudged: str
    departures: tuple[Departure, ...]
    stays: tuple[Stay, ...]
    stay_counts: tuple[StayCount, ...]
    not_selected: tuple[NotSelected, ...]
    arrivals: tuple[ExpectedArrival, ...]
    pending_pods: tuple[PodReference, ...]
    landings: tuple[NodeLanding, ...]
    landing_counts: tuple[LandingCount, ...]
    causes: tuple[LandingCause, ...]
    drain_blockers: tuple[DrainBlocker, ...]
    blocked_in_run: str
