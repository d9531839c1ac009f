"""What a plugin saw in a run: how many pods each of its rules left out, and what came nearest to its limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from descheduler.documents.fields import Fields
from descheduler.plan.goals import Goal

Unit = Literal["percent", "seconds", "restarts", "pods"]


class NearestValue(Fields, frozen=True):
    """The value nearest to a limit among all that were examined, above or below it.

    `key` is the limit's name in the policy or in the pod's spec. `subject` is the node, the pod (`namespace/name`) or
    the topology domain that has the `value`.
    """

    key: str
    limit: int | float
    value: int | float
    unit: Unit
    subject: str


class NodeClasses(Fields, frozen=True):
    """How many nodes are under, between and over the thresholds, which are percent of allocatable by resource.

    They are those in effect: with `useDeviationThresholds` they are relative to the average.
    """

    under: int
    between: int
    over: int
    thresholds: Mapping[str, int | float]
    target_thresholds: Mapping[str, int | float]


class PluginFacts(msgspec.Struct, frozen=True):
    """What one plugin of one profile saw.

    `why_nothing` is the sentence that says why it selects no pod; empty when it selects some. `stopped` is the line
    that kubernetes-sigs/descheduler logs when a condition ends the plugin before it examines a pod, else empty. Each of
    the `pods_examined` is in `pods_selected`, or left out by the first rule that it does not meet: `left_out` counts by
    the rule's key in the policy, or the field of the pod's spec that decides. `counts` are of other things that the
    plugin looks at, such as `constraints`. `goals` are those of a planner, or where a round only measures, `figures`
    are the figures of its objectives, in the units of their levels.
    """

    why_nothing: str
    pods_examined: int
    pods_selected: int
    stopped: str = ""
    left_out: Mapping[str, int] = msgspec.field(default_factory=dict)
    nearest: tuple[NearestValue, ...] = ()
    nodes: NodeClasses | None = None
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    goals: tuple[Goal, ...] = ()
    figures: tuple[int, ...] = ()

    def without(self, key: str, number: int) -> PluginFacts:
        """The same where `number` of the selected pods turned out not to be needed, which `key` left out instead."""
        if not number:
            return self
        left_out = {**self.left_out, key: self.left_out.get(key, 0) + number}
        return msgspec.structs.replace(self, pods_selected=self.pods_selected - number, left_out=left_out)
