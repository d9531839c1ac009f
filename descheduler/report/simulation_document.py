"""The document `Simulation`: what a policy would do to a cluster in one cycle after the other."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from descheduler.documents.fields import Fields
from descheduler.report.document import PolicyIdentity, SnapshotIdentity

SIMULATION_VERSION: Literal["descheduler.simulation/v1"] = "descheduler.simulation/v1"

Ending = Literal["converges", "waits", "repeats", "unfinished"]
"""How the cycles of a policy end; see `SimulatedPolicy`."""

Fate = Literal["scheduled", "pending", "unknown", "not created"]
"""What becomes of a replacement pod; see `SimulatedMove`."""


class Utilization(Fields, frozen=True):
    """Requests in percent of allocatable, by node: the highest of them, and their standard deviation."""

    highest_percent: float
    highest_node: str
    deviation_percent: float


class ClusterFigures(Fields, frozen=True):
    """A cluster before the first or after some cycle.

    Of `unknown` of the `pending` pods it is unknown whether they can be scheduled. `nodes_over_target` is counted as
    the plugins of the policy do, by their own thresholds; of several plugins it is the highest number, and null where
    no plugin has a target.
    """

    pods: int
    pending: int
    unknown: int
    nodes_over_target: int | None
    cpu: Utilization
    memory: Utilization


class SimulatedMove(Fields, frozen=True):
    """A pod that is evicted, and the node of its replacement, null unless that is scheduled in the same cycle.

    `replacement` is `scheduled`, `pending`, `unknown` (pending, and it is unknown whether it can be scheduled) or `not
    created`, where no controller creates one, or a quota does not allow it. The name of a replacement pod is that of
    the evicted pod with a plus sign, except in a StatefulSet.
    """

    namespace: str
    name: str
    workload: str
    from_node: str
    to_node: str | None
    replacement: Fate
    profile: str
    plugin: str


class SimulatedCycle(Fields, frozen=True):
    """One cycle at the time `at`: its evictions by plugin, and their replacement pods by what they become.

    `goals` are the sentences of planners about their goals. `after` is the cluster that the next cycle starts from.
    """

    cycle: int
    at: datetime
    evictions: int
    plugins: Mapping[str, int]
    replacements: Mapping[Fate, int]
    goals: tuple[str, ...]
    moves: tuple[SimulatedMove, ...]
    after: ClusterFigures


class BackAndForth(Fields, frozen=True):
    """A workload whose pods leave `nodes` and are scheduled onto them again, in the cycles from `from_cycle` on.

    Of its `evictions` in these cycles `returned` were followed by a replacement on the same node at once.
    """

    workload: str
    nodes: tuple[str, ...]
    from_cycle: int
    evictions: int
    returned: int


class SimulatedFailure(Fields, frozen=True):
    """A plugin that failed, and the first cycle in which it did."""

    cycle: int
    profile: str
    plugin: str
    message: str


class SimulatedPolicy(Fields, frozen=True):
    """What one policy does. `sentence` sums it up, and `evictions` are those of all `cycles`.

    `ending` is `converges` where nothing is evicted any more; `waits` where nothing is evicted, but pods are only
    blocked for some time, for example by a cooldown, which `waiting` counts by reason code; `repeats` where a cycle
    starts from the same cluster as an earlier one and evicts the same pods; and `unfinished` where pods are still
    evicted after the last cycle. Of a further run after the last cycle `not_evicted` counts the pods that it selects
    and does not evict by reason code, and `why_nothing` says why it evicts nothing, empty where it evicts.
    `back_and_forth` is of the last two, the workload with most evictions first.
    """

    policy: PolicyIdentity
    ending: Ending
    sentence: str
    evictions: int
    waiting: Mapping[str, int]
    not_evicted: Mapping[str, int]
    why_nothing: str
    back_and_forth: tuple[BackAndForth, ...]
    before: ClusterFigures
    cycles: tuple[SimulatedCycle, ...]
    failures: tuple[SimulatedFailure, ...]
    warnings: tuple[str, ...]


class Difference(Fields, frozen=True):
    """A figure in which two policies differ after their last cycles: the value of the first, and of the second."""

    figure: str
    first: float | None
    second: float | None


class Simulation(Fields, frozen=True):
    """One policy, or two that are compared, each on the same cluster; `differences` are empty for one.

    `now` is the time of the first cycle, and `every_seconds` the time from one cycle to the next.
    """

    api_version: Literal["descheduler.simulation/v1"]
    kind: Literal["Simulation"]
    snapshot: SnapshotIdentity
    now: datetime
    every_seconds: float
    policies: tuple[SimulatedPolicy, ...]
    differences: tuple[Difference, ...]
