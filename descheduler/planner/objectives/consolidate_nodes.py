"""ConsolidateNodes over a cluster: the most nodes emptied, each whole or not at all."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress, islice

import numpy as np

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.text.amounts import rounded_percent
from descheduler.model.text.counted import counted
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objective import Value
from descheduler.optimizer.objectives.consolidate_nodes import ConsolidateNodes, Drain, MostAllocated
from descheduler.optimizer.order.waves import Reassignment
from descheduler.optimizer.solving import Solution
from descheduler.placement.shadow.node_table import PODS_ROW
from descheduler.plan.moves import PodIdentity
from descheduler.planner.objective_args import ConsolidateNodesArgs
from descheduler.planner.objectives.cluster_objective import ClusterObjective, Part
from descheduler.planner.objectives.drain_plan import with_drains
from descheduler.planner.problem.cluster_problem import ClusterProblem
from descheduler.planner.problem.disposable_pods import NOWHERE
from descheduler.planner.problem.node_costs import THOUSANDTHS, NodeCosts, cost_text, scale_of, whole_cost
from descheduler.planner.unmatched_selector import unmatched_selector
from descheduler.planner.utilization.targets import UsageTargets
from descheduler.planner.utilization.usage import RequestsAsUsage
from descheduler.policy.shared_args import compile_selector

_SCHEDULED_SHARE = 0.8
"""Of the limits, where the scheduler's choice is known: targets of other plans are only wishes then."""
_CHOOSE_HINT = "the plan can choose the nodes (chooseNodes: true)"
_COUNTED = (Reason.DISRUPTION_BUDGET, Reason.LIMIT_REACHED, Reason.MIGRATING_LIMIT)
"""Reasons by which some pods of a node can be evicted, and not all."""
_MOST_EXAMINED, _MOST_NAMED = 20, 2
"""Nodes that are examined for what keeps them in use, and those that are named."""


class ConsolidateNodesObjective(ClusterObjective):
    """The most of `nodes` without pods, or the most of what they cost."""

    name = "ConsolidateNodes"
    noun, state = "node", "in use"
    is_in_bundles = lets_go_nowhere = empties_nodes = True
    verb = "emptied"
    """What becomes of nodes, as `why_not` has it."""

    def __init__(self, args: ConsolidateNodesArgs, handle: StrategyHandle, nodes: Sequence[Node]) -> None:
        self._most = UsageTargets(args.max_utilization)
        self._in_use = _NodesInUse(handle.view, handle.evictor)
        self._evictor, self._view = handle.evictor, handle.view
        preference = handle.evictor.prover().preference()
        self.hint, self._packing_weights = self.packing_hint(preference), preference.packing_weights
        self._uses_empty = args.use_empty_nodes
        self.hint = _CHOOSE_HINT if self._uses_empty else self.hint
        self.scheduled_share = _SCHEDULED_SHARE if self._packing_weights and not self._uses_empty else 0.0
        selector = compile_selector(args.protected_nodes)
        self._nodes = {node.name: node for node in nodes}
        self._protected = {node.name for node in nodes if selector is not None and selector.matches(node.labels)}
        costs = None if args.node_cost is None else NodeCosts(args.node_cost)
        self._has_costs = costs is not None
        priced = () if costs is None else costs.faults(nodes)
        unmatched = unmatched_selector("protectedNodes", args.protected_nodes, nodes, knows_labels=True)
        self._faults = (*filter(None, [unmatched]), *priced, *self._unknown_resources(args.max_utilization))
        stated = {node.name: 1.0 if costs is None else costs.of(node) for node in nodes}
        self._cost_scale = 1 if costs is None else scale_of(stated.values())
        self.scale = max(self._cost_scale // THOUSANDTHS, 1)
        self._cost = {name: whole_cost(cost, self._cost_scale) for name, cost in stated.items()}
        self._kept = self._protected | {name for name, cost in self._cost.items() if not cost}
        """No plan empties these: they are protected, or nothing is gained as they are free."""
        self._before = self._used()
        self._emptied: frozenset[str] = frozenset()
        """By the plan that was asked about last."""
        self._attracted: Counter[str] = Counter()
        """How many replacements would be scheduled onto each of these, since one was given up."""
        self._drains: Sequence[Drain] = ()
        """Of the last plan that counts with the scheduler's choice of nodes; the next one goes on with them."""
        self._chooses_nodes = False
        self._unplanned = 0
        """The cost of nodes that are in use by what is none of the problem's pods."""

    def choose_nodes(self) -> None:
        """See the base class; nodes are emptied in the plan's order then."""
        super().choose_nodes()
        self._chooses_nodes = True

    @property
    def counts(self) -> str:
        """Nodes, or what they cost."""
        return "cost of nodes in use (thousandths)" if self._has_costs else super().counts

    def counts_pod(self, pod: Pod) -> bool:
        """Whether `pod` keeps its node in use."""
        return pod.keeps_node_in_use

    def asked_later(self, node: str) -> float:
        """Nodes with few pods are emptied by few evictions; some are not emptied."""
        return math.inf if node in self._kept else self._in_use.num_pods(node)

    def nothing_to_do(self) -> str:
        """That no node can be emptied."""
        least = 1 if self._uses_empty else 2
        if len(self._before) < least:
            required = "1 is required" if least == 1 else f"{least} are required"
            return f"{counted(len(self._before), 'node')} in use: at least {required}"
        if self._before <= self._protected:
            return f"every node in use is protected (protectedNodes), {counted(len(self._before), 'node')}"
        if self._before <= self._kept:
            others = " or is protected (protectedNodes)" if self._before & self._protected else ""
            return f"every node in use costs nothing (nodeCost){others}, {counted(len(self._before), 'node')}"
        return ""

    def figure(self) -> int:
        """Nodes that are in use, or what they cost."""
        return self._sum(self._used())

    def stated_over(self, cluster: ClusterProblem) -> ConsolidateNodes:
        """What is in use by others than the cluster's pods, such as replacements, is not emptied, and receives pods."""
        names = cluster.nodes
        placed = cluster.problem.assignment
        num_pods = np.bincount(placed[placed >= 0], minlength=len(names))
        others = np.array([name != NOWHERE and self._in_use.num_pods(name) for name in names]) > num_pods
        weight = np.array([self._cost.get(name, 0) for name in names], dtype=np.int64)
        used_by_others = others & (num_pods == 0)
        self._unplanned = int(weight[used_by_others].sum())
        return ConsolidateNodes(
            ceiling=cluster.ceilings(self._most.ceilings(cluster.resources, cluster.allocatable)),
            weight=np.where(used_by_others, 0, weight),
            protected=others | np.array([name in self._kept for name in names], dtype=bool),
            receives=(num_pods == 0) & (others | self._uses_empty | (np.array(names) == NOWHERE)),
        )

    def scheduled(self, plan: Solution, cluster: ClusterProblem, budget: Budget, seed: int) -> Solution:
        """The nodes that can be emptied where the scheduler chooses the targets, first of all those of `plan`."""
        scored = np.array([self._packing_weights.get(resource, 0) for resource in cluster.resources], dtype=np.int64)
        goal = self.stated_over(cluster).prepare(cluster.problem)
        nodes = [group[0].source for group in self._fullest_first(plan.moves)]
        scheduler, rng = MostAllocated(cluster.units.room(cluster.allocatable), scored), np.random.default_rng(seed)
        self._drains = goal.scheduled(nodes, self._drains, scheduler, budget, rng)
        return with_drains(plan, self._drains, goal, budget)

    def groups(self, moves: Sequence[Reassignment]) -> Sequence[Sequence[Reassignment]]:
        """The moves of each node: in the plan's order where it chooses the nodes or counts with the scheduler's choice.

        Else the fullest first: of nodes that are emptied later the fullest would attract replacements.
        """
        is_in_turn = self.scheduled_share or self._chooses_nodes
        found = self._of_each_node(moves) if is_in_turn else self._fullest_first(moves)
        self._emptied = frozenset(name for group in found for name in self._sources(group))
        self._attracted.clear()
        return self._tied(found) if self._uses_empty else found

    def _tied(self, groups: Sequence[Sequence[Reassignment]]) -> Sequence[Sequence[Reassignment]]:
        """`groups`, as one those whose pods go to the same node without pods: it is worth its cost for all of them."""
        found = list[tuple[list[Reassignment], frozenset[str]]]()
        for group in groups:
            moves, opened = list(group), self._opened(group)
            for other in [each for each in found if each[1] & opened]:
                found.remove(other)
                moves, opened = other[0] + moves, opened | other[1]
            found.append((moves, opened))
        return [moves for moves, _ in found]

    def _sources(self, moves: Sequence[Reassignment]) -> frozenset[str]:
        names = list(self._nodes)
        return frozenset(names[move.source] for move in moves)

    def _opened(self, moves: Sequence[Reassignment]) -> frozenset[str]:
        """The targets that are without pods before."""
        names = [*self._nodes, NOWHERE]
        return frozenset(names[move.target] for move in moves) - {NOWHERE} - self._used()

    def parts(self, cluster: ClusterProblem, moves: Sequence[Reassignment]) -> Iterator[Part]:
        """Each node, by what it costs, less what nodes without pods cost that receive some for it."""
        for part in super().parts(cluster, moves):
            gained = self._sum(self._sources(part.moves)) - self._sum(self._opened(part.moves))
            yield part._replace(gain=gained / self._cost_scale)

    def _fullest_first(self, moves: Sequence[Reassignment]) -> Sequence[Sequence[Reassignment]]:
        names = list(self._nodes)
        return sorted(
            self._of_each_node(moves),
            key=lambda group: (-self._fullness(names[group[0].source]), group[0].source),
        )

    @staticmethod
    def _of_each_node(moves: Sequence[Reassignment]) -> Sequence[Sequence[Reassignment]]:
        by_node: dict[int, list[Reassignment]] = {}
        for move in moves:
            by_node.setdefault(move.source, []).append(move)
        return list(by_node.values())

    def give_up(self, groups: Sequence[Sequence[Reassignment]]) -> int | None:
        """The node onto which most replacements of others would be scheduled, which stays in use."""
        sources = [self._sources(group) for group in groups]
        attracted = [max(self._attracted[name] for name in names) for names in sources]
        attracting = attracted.index(max(attracted))
        if not attracted[attracting]:
            return None
        self._attracted.clear()
        self._emptied -= sources[attracting]
        return attracting

    def gain_of(self, moves: Sequence[Reassignment]) -> Callable[[], Verdict]:
        """That the node is empty then: what pods leave may be taken by pending pods that had no room before."""
        names, before = self._sources(moves), self._used()

        def gain() -> Verdict:
            used = self._used()
            opened = used - before
            taken = sorted(used & names if self._uses_empty else used - (before - names))
            if taken:
                return refuse(Reason.NO_GAIN, f"pending pods would be scheduled onto {taken[0]} after the evictions")
            if not opened or self._sum(opened) < self._sum(before - used):
                return ACCEPTED
            return refuse(Reason.NO_GAIN, f"{', '.join(sorted(opened))} would be used instead, which costs no less")

        return gain

    def shown(self, value: Value) -> tuple[int, int]:
        """With what nodes cost that no plan empties."""
        weight, cost = value
        return weight + self._unplanned, cost

    def text_of(self, number: int) -> str:
        """Nodes, or what they cost."""
        return f"cost of nodes in use {self.amount_of(number)}" if self._has_costs else super().text_of(number)

    def amount_of(self, number: int) -> str:
        """Nodes, or what they cost."""
        return self._cost_text(number) if self._has_costs else super().amount_of(number)

    def _cost_text(self, number: int) -> str:
        return cost_text(number, self._cost_scale)

    def change(self, before: int, after: int) -> str:
        """Nodes, and what they cost where that is known."""
        if not self._has_costs:
            return super().change(before, after)
        num_nodes = f"{super().text_of(len(self._before))} → {len(self._used())}"
        return f"{num_nodes} (cost {self._cost_text(before)} → {self._cost_text(after)})"

    def reason(self, pod: Pod) -> str:
        """How many pods leave the node."""
        return f"empties node {pod.node_name} (requests: {self._most_used(pod.node_name)} of allocatable)"

    def harm(self, pod: Pod, node: str) -> Verdict:
        """That the node is emptied, is empty, or would be too full."""
        would = f"the replacement pod would be scheduled onto {node}"
        if node in self._emptied:
            self._attracted[node] += 1
            return refuse(Reason.OTHER_LANDING, f"{would}, which the plan empties", node)
        if not (self._uses_empty or self._in_use.num_pods(node)):
            return refuse(Reason.OTHER_LANDING, f"{would}, which is not in use", node)
        usage = RequestsAsUsage(self._evictor)
        over = self._most.resources_over(usage.of(node), usage.most_after(pod))
        if not over or node not in self._nodes:
            return ACCEPTED
        message = f"{would}, and bring it over {self._most.text_of(over)} (maxUtilization)"
        return refuse(Reason.OTHER_LANDING, message, node)

    def obstacles(self, against: Mapping[PodIdentity, str]) -> str:
        """What is said `against` pods, else the first pods of the emptiest nodes that cannot be evicted."""
        if said := super().obstacles(against):
            return said
        names = sorted(self._used() - self._kept, key=lambda name: (self._fullness(name), name))[:_MOST_EXAMINED]
        blocked = ((name, self._in_the_way(name)) for name in names)
        return "; ".join(
            islice((f"node {name} is not {self.verb}: {text}" for name, text in blocked if text), _MOST_NAMED)
        )

    def remarks(self, against: Mapping[PodIdentity, str]) -> Sequence[str]:
        """Which nodes have no price; a selector that no node matches, and targets of resources that no node has."""
        return self._faults

    def _unknown_resources(self, most: Mapping[str, float]) -> Iterator[str]:
        """Targets without effect, because no node has the resource."""
        openings = self._evictor.prover().openings()
        known = {openings.resources[row] for row in np.flatnonzero(openings.capacity.any(axis=1)).tolist()}
        for resource, percent in sorted(most.items()):
            if resource not in known:
                yield f"maxUtilization.{resource} ({percent:g}) has no effect: no node has {resource}"

    def why_not(self, pod: Pod) -> str:
        """What keeps its node in use."""
        name = pod.node_name
        if name not in self._nodes:
            return f"node {name} is not one of the nodes that the policy selects"
        if not pod.keeps_node_in_use:
            return f"the pod does not keep node {name} in use: it {pod.why_not_in_use}"
        if name in self._protected:
            return f"node {name} is protected (protectedNodes)"
        if name in self._kept:
            return f"node {name} costs nothing (nodeCost)"
        if blocked := self._blocked(name, self._evictor.filter):
            return f"node {name} is not {self.verb}: {blocked}"
        if any(arrival is not None and arrival.node_name == name for _, arrival in self._evictor.arrivals()):
            return f"node {name} is not {self.verb}: the plan has pods of other nodes scheduled onto it"
        blocked = self._blocked(name, self._asked_for) or self._blocked_together(name)
        return f"node {name} is not {self.verb}{f': {blocked}' if blocked else ' in any plan that was found'}"

    def needs_more_than(self, most: int) -> str:
        """A node in use with more pods than that, all of which can be evicted, one of the fewest pods."""
        sizes = sorted((self._in_use.num_pods(name), name) for name in self._used() - self._kept)
        large = (each for each in sizes if each[0] > most and not self._blocked(each[1], self._evictor.filter))
        return next((f"node {name} needs {counted(number, 'eviction')}" for number, name in large), "")

    def _in_the_way(self, node: str) -> str:
        """The first pod of a node that the filters reject, else the first that limits and budgets keep; "" for none."""
        return self._blocked(node, self._evictor.filter) or self._blocked(node, self._asked_for)

    def _blocked(self, node: str, verdict_of: Callable[[Pod], Verdict]) -> str:
        """The first pod of a node that cannot be evicted, and why; empty where all can that are there."""
        found = self._first_blocked(node, verdict_of)
        return "" if found is None else f"pod {found[0].key} cannot be evicted: {found[1].message}"

    def _first_blocked(self, node: str, verdict_of: Callable[[Pod], Verdict]) -> tuple[Pod, Verdict] | None:
        """The first pod that is in the way of emptying a node, with what `verdict_of` it says; None for none."""
        for pod in self._view.active_pods_on(node):
            is_passed = self._view.is_arrival(pod) or not pod.keeps_node_in_use
            verdict = ACCEPTED if is_passed else verdict_of(pod)
            if not verdict.is_accepted:
                return pod, verdict
        return None

    def _blocked_together(self, node: str) -> str:
        """The pod of a node that a limit or a budget keeps once those before it are evicted; "" for none.

        Which pod finds no room depends on the order, so that nothing is said of that.
        """
        with self._evictor.what_if():
            found = self._first_blocked(node, self._counted_after_others)
        if found is None:
            return ""
        return f"pod {found[0].key} cannot be evicted together with the other pods of the node: {found[1].message}"

    def _counted_after_others(self, pod: Pod) -> Verdict:
        """What limits and budgets say of `pod`, which is booked where nothing is said against it."""
        if self._evictor.has_booked(pod):
            return ACCEPTED
        verdict = self._evictor.filter(pod)
        verdict = self._evictor.request(pod) if verdict.is_accepted else verdict
        return verdict if verdict.reason in _COUNTED else ACCEPTED

    def _asked_for(self, pod: Pod) -> Verdict:
        """What filters, limits and budgets say of `pod`."""
        if self._evictor.has_booked(pod):
            return ACCEPTED
        with self._evictor.what_if():
            return self._evictor.request(pod)

    def _used(self) -> frozenset[str]:
        return frozenset(name for name in self._in_use.names() if name in self._nodes)

    def _sum(self, names: frozenset[str]) -> int:
        return sum(self._cost[name] for name in names)

    def _fullness(self, node: str) -> float:
        return max(self._shares(node).values(), default=0.0)

    def _most_used(self, node: str) -> str:
        shares = self._shares(node)
        return ", ".join(
            f"{resource} {rounded_percent(100 * shares.get(resource, 0))}" for resource in ("cpu", "memory")
        )

    def _shares(self, node: str) -> Mapping[str, float]:
        usage = RequestsAsUsage(self._evictor).of(node)
        numbers = zip(usage.resources, usage.taken.tolist(), usage.allocatable.tolist(), strict=True)
        return {resource: taken / has for resource, taken, has in numbers if has}


class _NodesInUse:
    """How many pods keep nodes in use, as things are booked."""

    def __init__(self, view: ClusterView, evictor: PluginEvictor) -> None:
        self._view, self._evictor = view, evictor
        self._others: Counter[str] = Counter()
        for node in view.nodes:
            self._others[node] = sum(not pod.keeps_node_in_use for pod in view.active_pods_on(node))

    def num_pods(self, node: str) -> int:
        """Pods of a node, without those that do not keep it in use."""
        return int(RequestsAsUsage(self._evictor).of(node).taken[PODS_ROW]) - self._others[node]

    def names(self) -> Iterator[str]:
        """The nodes with such pods; of all at once, because it is asked for each node that is to be emptied."""
        openings = self._evictor.prover().openings()
        others = np.array([self._others[node] for node in openings.nodes], dtype=np.int64)
        return compress(openings.nodes, openings.taken[PODS_ROW] != others)
