"""The seam of objectives: what each is in arrays, and what it is in an operator's words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from descheduler.model.held_room import HeldRoom
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.verdict import ACCEPTED, Verdict
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objective import Objective, Value
from descheduler.optimizer.order.waves import Reassignment
from descheduler.optimizer.problem import Problem
from descheduler.optimizer.solving import Solution
from descheduler.placement.framework.scheduling_plugin import Preference
from descheduler.plan.goals import BlockedNode
from descheduler.plan.moves import PodIdentity
from descheduler.planner.problem.cluster_problem import ClusterProblem

AskTogether = Callable[[Sequence[Pod]], tuple[Pod | None, Verdict, bool]]
"""What tells, on trial, whether pods may leave together: the first that is refused beside the others, why, and whether
that is so in all orders. It names no pod where all are accepted, or refused as a whole."""


class Part(NamedTuple):
    """`moves` by which the figure falls by `gain`. Without them `pods` stay: no other moves of them gain more."""

    gain: float
    moves: Sequence[Reassignment]
    pods: Sequence[Pod]


class ClusterObjective(ABC):
    """One objective in one run. Its figure is the lower the better; everything is counted as things are booked."""

    name: str
    """As reports call it."""
    noun: str
    """What the figure counts, such as `node`."""
    state: str
    """In which state these are, such as `over target`."""
    hint = ""
    """What helps where replacements would be scheduled onto the wrong nodes; empty where nothing is known to help."""
    is_in_bundles = False
    """Whether the pods of a group are evicted as one bundle, of which whatever carries it out evicts all or none."""

    empties_nodes = False
    """Whether pods leave a node only all together."""

    says_why_each_is_left = False
    """Whether `blocked_nodes` are the nodes that are left, with what is in the way of each."""

    is_tried_in_orders = False
    """Whether such bundles are asked for in several orders where less comes of them than planned."""

    lets_go_nowhere = False
    """Whether pods may leave for no node: disposable ones, and those for which no pod is created."""

    proves_rounded = True
    """Whether bounds are right over amounts that are rounded so that more fits; else nothing is proven of such."""

    is_planned_further = False
    """Whether what is left of a plan is planned again on top of what is granted of it: others spoil its groups."""

    scale = 1
    """How many of the figure make one of what it counts: fractions are whole numbers until they are reported."""

    explains_rest = False
    """Whether `obstacles` are also told of what a plan leaves that moves something."""

    scheduled_share = 0.0
    """Of the limits of a plan, what `scheduled` takes."""

    nodes_at_once: int | None = None
    """How many nodes pods may leave in one wave of the plan; None for any number."""

    closed: frozenset[str] = frozenset()
    """The nodes on which no plan places pods, once that is known."""

    leaves_out_returning = False
    """Whether `promising` has left pods out because their replacements would be scheduled onto their nodes again."""

    def zone_of(self, node: str) -> str:
        """What nodes have in common from which pods leave in one wave; the same for all if not overridden."""
        return ""

    def choose_nodes(self) -> None:
        """Has the plan choose the nodes of replacements, on which room is held for them, not the scheduler."""
        self.hint, self.scheduled_share = "", 0.0

    @property
    def counts(self) -> str:
        """What the figure counts, such as `nodes over target`."""
        return f"{self.noun}s {self.state}"

    def targets(self) -> Mapping[str, float]:
        """The shares in percent, by resource, that nodes are brought below; none if not overridden."""
        return {}

    def pending(self) -> Sequence[Pod]:
        """The pods without a node that the plan places; none if not overridden."""
        return ()

    @staticmethod
    def packing_hint(preference: Preference) -> str:
        """The hint of objectives that are for full nodes, where the scheduler prefers others."""
        if not preference.prefers_empty_nodes:
            return ""
        return "a scheduler that scores with MostAllocated prefers fuller nodes (schedulerConfigFile)"

    @property
    def tells_gpus_apart(self) -> bool:
        """Whether the plan is about single GPUs of nodes; not if not overridden."""
        return False

    @property
    def places_nowhere(self) -> bool:
        """Whether plans have such pods leave for nowhere, and bounds count with that; those over single GPUs do not."""
        return self.lets_go_nowhere and not self.tells_gpus_apart

    @property
    def proves_resized(self) -> bool:
        """Whether bounds have pods leave for nowhere whose replacements may be smaller, as plans that place less are no
        worse. Else nothing is proven where there are such pods."""
        return self.places_nowhere

    @property
    def shrinks_resized(self) -> bool:
        """Whether bounds count with the smallest size of such pods instead, on their own node, too: where requests do
        nothing but to fit. Not if not overridden."""
        return False

    def counts_pod(self, pod: Pod) -> bool:
        """Whether a pod on a node is one of those that the plan moves, or that have to stay; all if not overridden."""
        return True

    def asked_later(self, node: str) -> float:
        """In this order pods of nodes are asked about, which takes time in large clusters; the same by default.

        Infinity where no plan moves pods from the node: they are not asked about.
        """
        return 0.0

    @abstractmethod
    def nothing_to_do(self) -> str:
        """The sentence that says why nothing is planned; empty where something is."""

    def hopeless(self) -> str:
        """Why no plan reaches anything, where that is known without a search; empty otherwise."""
        return ""

    @abstractmethod
    def figure(self) -> int:
        """How many are in that state now."""

    def problem_over(self, cluster: ClusterProblem) -> Problem:
        """The problem of `cluster`, with what the objective adds to it."""
        return cluster.problem

    def promising(self, cluster: ClusterProblem, problem: Problem) -> Problem:
        """`problem` over `cluster` without moves that the scheduler makes useless; as it is if not overridden."""
        return problem

    @abstractmethod
    def stated_over(self, cluster: ClusterProblem) -> Objective:
        """The objective over that problem."""

    def scheduled(self, plan: Solution, cluster: ClusterProblem, budget: Budget, seed: int) -> Solution:
        """`plan` over `cluster`, or a better one that counts with what the scheduler does; as it is if not overridden.

        The moves of such a plan are in the order in which they are to be asked for.
        """
        return plan

    def relaxed_over(self, cluster: ClusterProblem) -> tuple[Problem, Objective] | None:
        """Problem and objective as if every node had room for whatever comes: what has to leave at least.

        None where that says nothing about a plan, as by default.
        """
        return None

    @abstractmethod
    def reason(self, pod: Pod) -> str:
        """The sentence with which the eviction of `pod` is asked for."""

    def served_by(self, pod: Pod) -> Sequence[Pod]:
        """The pending pods that the eviction of `pod` makes room for; none if not overridden."""
        return ()

    @abstractmethod
    def harm(self, pod: Pod, node: str) -> Verdict:
        """Why the replacement of `pod` must not be scheduled onto `node`."""

    def objections(self) -> Mapping[PodIdentity, str]:
        """What is said against pods once all moves of a plan are booked on trial: of what they lead to."""
        return {}

    def shown(self, value: Value) -> tuple[int, int]:
        """(figure, cost) as reports have them, of a value of the engine."""
        figure, cost = value
        return figure, cost

    def bound_of(self, bound: Value) -> tuple[int, int]:
        """(figure, cost) of which no plan has less, by the bound of the first plan; (0, 0) where nothing is proven."""
        return self.shown(bound)

    def obstacles(self, against: Mapping[PodIdentity, str]) -> str:
        """What is in the way where no plan moves anything: by default what is said `against` most of the pods."""
        if not against:
            return ""
        text, number = min(Counter(against.values()).items(), key=lambda item: (-item[1], item[0]))
        _, namespace, name = min(pod for pod, said in against.items() if said == text)
        more = f" and {counted(number - 1, 'more pod')}" if number > 1 else ""
        return f"pod {namespace}/{name}{more}: {text}"

    def obstacle_of(self, pod: Pod) -> str:
        """What is in the way of room for a pending pod; empty where that is not known."""
        return ""

    @abstractmethod
    def why_not(self, pod: Pod) -> str:
        """Why a pod stays that the plan does not move and that nothing was said against; asked after the run."""

    def why_no_room(self, pod: Pod) -> str:
        """Why no room is looked for for a pending pod that the objective is for; empty where it is for no such pod."""
        return ""

    def why_unselected(self, pod: Pod) -> str:
        """Why a pod without a node is none of those that the objective is for; empty where it is for no such pods."""
        return ""

    def needs_more_than(self, most: int) -> str | None:
        """What is left and takes more than `most` evictions in one run, such as `node a needs 3 evictions`.

        Empty where nothing does, None where that is unknown, as by default.
        """
        return None

    def in_vain(self, pods: Iterable[Pod]) -> Collection[PodIdentity]:
        """The pods that would leave for nothing, as things are booked: the objective gains nothing by them.

        None by default.
        """
        return ()

    def groups(self, moves: Sequence[Reassignment]) -> Sequence[Sequence[Reassignment]]:
        """The moves of one plan in the order in which they are asked for, those together that are of use only together.

        Each alone if not overridden.
        """
        return [[move] for move in moves]

    def rooms(self, moves: Sequence[Reassignment]) -> Mapping[Reassignment, tuple[HeldRoom, ...]]:
        """Room that is held for pods of `moves`, a group, by the move after which it is there; none by default."""
        return {}

    def parts(self, cluster: ClusterProblem, moves: Sequence[Reassignment]) -> Iterable[Part]:
        """What gains by itself: each group, by 1, if not overridden."""
        return [Part(1, group, [cluster.pods[move.pod] for move in group]) for group in self.groups(moves)]

    def gain_of(self, moves: Sequence[Reassignment]) -> Callable[[], Verdict]:
        """What says, once a whole group of moves is granted, whether it is of use; asked for before they are."""
        return lambda: ACCEPTED

    def give_up(self, groups: Sequence[Sequence[Reassignment]]) -> int | None:
        """Which of `groups`, none of which is granted, is left out so that others may be; None where none helps."""
        return None

    def split(self, moves: Sequence[Reassignment]) -> Sequence[Sequence[Reassignment]]:
        """Parts of a group, which are asked for where the whole is refused; none by default."""
        return ()

    def substitutes(
        self, moves: Sequence[Reassignment], may_leave: Callable[[int], bool]
    ) -> Sequence[Sequence[Reassignment]]:
        """Other moves that do, as things are booked, what `moves` would have done, which are refused; none by default.

        Of pods of the problem that `may_leave`, with those together that are of use only together. Their target is
        PENDING: the scheduler chooses it.
        """
        return ()

    def text_of(self, number: int) -> str:
        """Such as `2 nodes over target`."""
        return f"{counted(number, self.noun)} {self.state}"

    def amount_of(self, number: int) -> str:
        """The same without saying of what, such as `2`."""
        return f"{number:,}"

    def change(self, before: int, after: int) -> str:
        """Such as `2 nodes over target → 0`."""
        return f"{self.text_of(before)} → {self.amount_of(after)}"

    def left_over(self) -> Iterable[Sequence[Pod]]:
        """Pods that leave together or not at all, which gains 1: asked for after a plan that leaves them there.

        None by default.
        """
        return ()

    def blocked_nodes(self, against: Mapping[PodIdentity, str], ask: AskTogether) -> Sequence[BlockedNode]:
        """Nodes that the plan was to drain and does not, of many the first ones, each with what is in the way.

        `against` has what was said against pods of plans that were tried out.
        """
        return ()

    def remarks(self, against: Mapping[PodIdentity, str]) -> Sequence[str]:
        """What is said beside of what is not in the figure, each a clause at the end of the goal; none by default.

        `against` has what was said against pods of plans that were tried out.
        """
        return ()
