"""A replacement that looks for a node, with all that placing it goes by."""

from __future__ import annotations

import msgspec

from descheduler.model.pod import Pod
from descheduler.placement.framework.attempt import Attempt, Picker, first_of_ties, place
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.scheduler_model import DoubtOf, SchedulerModel
from descheduler.placement.replacements.replacement import Replacement
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Company

_LEAST_PRIORITY = -(2**31)


class UnplacedReplacement(msgspec.Struct, frozen=True, eq=False):
    """A replacement that looks for a node. `pod` is the form in which it is placed, `placement_class` its class.

    `doubt` says what its scheduler checks that is not modelled, or why its creation by its owner is unknown; it is
    empty where everything is known. Refusals of `optional` plugins may mean nothing to that scheduler. `alternative` is
    the same of another size, which admission may give it. `unit` are the pods that are placed together with it, itself
    among them; empty for one alone. On the node `held_on` room is held for it before its victim leaves; "" without
    that. It is counted on no node but those `within`, all where that is None.
    """

    victim: Pod
    replacement: Replacement
    pod: Pod
    placement_class: PlacementClass
    scheduler: SchedulerModel
    priority: int
    doubt: str = ""
    optional: frozenset[str] = frozenset()
    alternative: UnplacedReplacement | None = None
    unit: tuple[Pod, ...] = ()
    held_on: str = ""
    within: BoolMask | None = None

    @property
    def unit_id(self) -> str:
        """What it shares with those that are placed together with it, as the cluster is now."""
        return self.scheduler.unit_of(self.pod)

    def evaluate(self, *, unit_is_begun: bool = False) -> PodEvaluation:
        """What the filters say of it, as the cluster is now; nothing takes it while its unit is held back.

        That is asked before any of the unit is placed: `unit_is_begun` says that others of it are.
        """
        if not self.unit:
            return self.scheduler.evaluate_binding(self.pod, within=self.within)
        evaluation = self.scheduler.evaluate_binding(self.pod, Company(self.unit), self.within)
        waits = () if unit_is_begun or evaluation.refusals else self.scheduler.held_back(self.unit)
        return self.scheduler.refused(evaluation.cycle, waits) if waits else evaluation

    def place(self, pick: Picker = first_of_ties, *, unit_is_begun: bool = False) -> Attempt:
        """Places it where its scheduler would, by the last word of `pick`, and leaves it there."""
        return place(self.evaluate(unit_is_begun=unit_is_begun), pick)

    @property
    def can_be_helped(self) -> bool:
        """Whether it may find a node once others are placed that it does not find before."""
        return self.scheduler.can_be_helped(self.pod)

    @property
    def returns_at_once(self) -> bool:
        """Whether the replacement is there while its victim is still terminating."""
        return self.replacement.answer.is_early

    @property
    def own_node(self) -> str:
        """The node that its owner creates it for, "" where the scheduler chooses."""
        return self.replacement.answer.node


def first_priority(unplaced: UnplacedReplacement) -> int:
    """From which priority on pending pods may be scheduled before it."""
    return _LEAST_PRIORITY if unplaced.scheduler.doubt(unplaced.pod, DoubtOf.ORDER) else unplaced.priority
