"""The document `Simulation`: what a policy would do to a cluster in one cycle after the other."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from descheduler.report.document import Fields, PolicyIdentity, SnapshotIdentity

__all__ = [
    "SIMULATION_VERSION",
    "BackAndForth",
    "ClusterFigures",
    "Difference",
    "Ending",
    "Fate",
    "SimulatedCycle",
    "SimulatedFailure",
    "SimulatedMove",
    "SimulatedPolicy",
    "Simulation",
    "Utilization",
]

SIMULATION_VERSION: Literal["descheduler.simulation/v1"] = "descheduler.simulation/v1"

Ending = Literal["converges", "waits", "repeats", "unfinished"]
"""`converges`: nothing is evicted any more. `waits`: nothing is evicted, but pods are kept by what ends with time, such
as a cooldown. `repeats`: a cycle finds an earlier state of the cluster and evicts the same pods there. `unfinished`:
pods are still evicted after the last cycle."""

Fate = Literal["scheduled", "pending", "unknown", "not created"]
"""What becomes of a replacement pod. `unknown`: it is pending, and its scheduler is not modelled. `not created`: no
controller creates it, or a quota keeps it from being created."""


class Utilization(Fields, frozen=True):
    """Requests in percent of allocatable, by node: the highest of them, and their standard deviation."""

    highest_percent: float
    highest_node: str
    deviation_percent: float


class ClusterFigures(Fields, frozen=True):
    """A cluster before or after a cycle.

    Of the `pending` pods so many are `unknown`: their schedulers are not modelled. `nodes_over_target` is as the plugin
    counts that finds most, by its own thresholds, null where no plugin of the policy has a target.
    """

    pods: int
    pending: int
    unknown: int
    nodes_over_target: int | None
    cpu: Utilization
    memory: Utilization


class SimulatedMove(Fields, frozen=True):
    """A pod that is evicted, and the node of its replacement, null unless that is scheduled in the same cycle.

    The replacement of a replacement has one more plus sign behind its name.
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
    """One cycle, its evictions by plugin and what becomes of their replacements by fate.

    `goals` says what planners reach in it, a sentence each. `after` is the cluster that the next cycle finds.
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
    """A workload that loses pods on `nodes` and gets them there again in the cycles from `from_cycle` on.

    Of the replacements of its `evictions` so many `returned` at once, to the node that their pod was evicted from.
    """

    workload: str
    nodes: tuple[str, ...]
    from_cycle: int
    evictions: int
    returned: int


class SimulatedFailure(Fields, frozen=True):
    """A plugin that fails, in this cycle for the first time."""

    cycle: int
    profile: str
    plugin: str
    message: str


class SimulatedPolicy(Fields, frozen=True):
    """What comes of one policy. `sentence` sums it up, and `evictions` are those of all `cycles`.

    `waiting` counts the pods that are not evicted in the end for something that passes, by reason code.
    """

    policy: PolicyIdentity
    ending: Ending
    sentence: str
    evictions: int
    waiting: Mapping[str, int]
    back_and_forth: tuple[BackAndForth, ...]
    before: ClusterFigures
    cycles: tuple[SimulatedCycle, ...]
    failures: tuple[SimulatedFailure, ...]
    warnings: tuple[str, ...]


class Difference(Fields, frozen=True):
    """A figure at the end in which two policies differ: that of the first, and that of the second."""

    figure: str
    first: float | None
    second: float | None


class Simulation(Fields, frozen=True):
    """One policy, or two to be compared, each on the same cluster. `differences` are empty for one."""

    api_version: Literal["descheduler.simulation/v1"]
    kind: Literal["Simulation"]
    snapshot: SnapshotIdentity
    now: datetime
    every_seconds: float
    policies: tuple[SimulatedPolicy, ...]
    differences: tuple[Difference, ...]
