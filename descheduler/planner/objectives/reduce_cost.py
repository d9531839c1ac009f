"""ReduceCost over a cluster: pods on nodes where what they request costs less, by moves that each gain enough."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.optimizer.arrays import Floats, Ints
from descheduler.optimizer.objective import Value
from descheduler.optimizer.objectives.reduce_cost import ReduceCost
from descheduler.optimizer.order.waves import Reassignment
from descheduler.optimizer.problem import Problem
from descheduler.plan.moves import PodIdentity
from descheduler.planner.objective_args import ReduceCostArgs
from descheduler.planner.objectives.cluster_objective import ClusterObjective, Part
from descheduler.planner.problem.cluster_problem import ClusterProblem
from descheduler.planner.problem.node_costs import THOUSANDTHS, NodeCosts, cost_text, price_text
from descheduler.planner.utilization.usage import RequestsAsUsage

_CHARGED = ("cpu", "memory")
"""A pod costs the mean of its shares of these, times what its node costs."""
_MILLIONTHS = 1000
"""How many of the optimizer's units make one of the figure, which is in thousandths."""
_HINT = "taint expensive nodes with PreferNoSchedule, or let the plan choose the nodes (chooseNodes: true)"


class ReduceCostObjective(ClusterObjective):
    """What the requests of pods on `nodes` cost, in thousandths of the unit of `nodeCost`."""

    name = "ReduceCost"
    noun, state = "cost", "of requests"
    scale = THOUSANDTHS
    proves_rounded = False

    def __init__(self, args: ReduceCostArgs, handle: StrategyHandle, nodes: Sequence[Node]) -> None:
        self._evictor, self._view = handle.evictor, handle.view
        self.hint = _HINT
        costs = NodeCosts(args.node_cost)
        self._cost_faults = tuple(costs.faults(nodes))
        self._cost = {node.name: costs.of(node) for node in nodes}
        self._unplanned = 0
        """What is requested by what is none of the problem's pods, in millionths."""

    @property
    def counts(self) -> str:
        """What requests cost."""
        return "cost of requests"

    def choose_nodes(self) -> None:
        """See the base class; the scheduler of a chosen node needs no hint."""
        self.hint = ""

    def asked_later(self, node: str) -> float:
        """Pods of dear nodes save most."""
        return -self._cost[node]

    def nothing_to_do(self) -> str:
        """That no pod requests anything, or that it costs nothing, or the same everywhere."""
        rates = np.unique(self._rates(list(self._cost)), axis=0)
        if len(rates) < 2:
            return "; ".join(("requests cost the same on every node (nodeCost)", *self._cost_faults))
        if self.figure():
            return ""
        taken = self._requests()
        if not taken[:, rates.any(axis=0)].any():
            return "no pod on the nodes of the policy requests CPU or memory"
        is_priced = (taken * self._rates(list(self._cost))).any()
        least = f"less than {cost_text(1)} in all" if is_priced else "nothing on the nodes that have pods"
        return "; ".join((f"requests cost {least} (nodeCost)", *self._cost_faults))

    def figure(self) -> int:
        """What is requested of all nodes, as things are booked."""
        return _thousandths(float((self._requests() * self._rates(list(self._cost))).sum()))

    def _requests(self) -> Ints:
        """int64[N, R]: what is requested of each node."""
        openings = self._evictor.prover().openings()
        return openings.taken[:, [openings.place_of(name) for name in self._cost]].T

    def text_of(self, number: int) -> str:
        """Such as `cost of requests 12.4`."""
        return f"{self.counts} {self.amount_of(number)}"

    def amount_of(self, number: int) -> str:
        """Such as `12.4`."""
        return cost_text(number)

    def problem_over(self, cluster: ClusterProblem) -> Problem:
        """With moves alone that save something by themselves."""
        problem, rates = cluster.problem, self._rates_over(cluster)
        alike = defaultdict[tuple[bytes, bytes], list[int]](list)
        for pod in np.flatnonzero(problem.evictable).tolist():
            alike[problem.need[pod].tobytes(), rates[problem.assignment[pod]].tobytes()].append(pod)
        prices = ((pods, rates @ problem.need[pods[0]]) for pods in alike.values())
        closed = ((pods, price > price[problem.assignment[pods[0]]] - _MILLIONTHS) for pods, price in prices)
        return cluster.without_moves(closed).problem

    def stated_over(self, cluster: ClusterProblem) -> ReduceCost:
        """The rates of the nodes."""
        problem, rates = cluster.problem, self._rates_over(cluster)
        planned = float((problem.usage(problem.assignment) * rates).sum())
        self._unplanned = _MILLIONTHS * self.figure() - round(planned)
        return ReduceCost(rates)

    def shown(self, value: Value) -> tuple[int, int]:
        """With what others than the problem's pods request."""
        price, cost = value
        return _thousandths(price + self._unplanned), cost

    def reason(self, pod: Pod) -> str:
        """What the node costs."""
        return f"other nodes have cheaper room (node {pod.node_name} costs {price_text(self._cost[pod.node_name])})"

    def harm(self, pod: Pod, node: str) -> Verdict:
        """That it costs no less there."""
        would = f"the replacement pod would be scheduled onto {node}"
        if node not in self._cost:
            message = f"{would}, which is not one of the nodes that the policy selects"
            return refuse(Reason.OTHER_LANDING, message, node)
        saved = float(self._saved(pod, [node])[0])
        if saved >= _MILLIONTHS:
            return ACCEPTED
        how_much = f"less by under {cost_text(1)}" if saved > 0 else "no less"
        return refuse(Reason.OTHER_LANDING, f"{would}, where its requests cost {how_much}", node)

    def parts(self, cluster: ClusterProblem, moves: Sequence[Reassignment]) -> Iterator[Part]:
        """Each move, by what it saves."""
        for part in super().parts(cluster, moves):
            (pod,), (move,) = part.pods, part.moves
            (saved,) = self._saved(pod, [cluster.nodes[move.target]])
            yield part._replace(gain=_thousandths(saved) / THOUSANDTHS)

    def remarks(self, against: Mapping[PodIdentity, str]) -> Sequence[str]:
        """Which nodes have no price."""
        return self._cost_faults

    def why_not(self, pod: Pod) -> str:
        """That no node has cheaper room for it."""
        if pod.node_name not in self._cost:
            return f"node {pod.node_name} is not one of the nodes that the policy selects"
        if (self._saved(pod, list(self._cost)) <= 0).all():
            return f"no node is cheaper than node {pod.node_name} (nodeCost)"
        return "no plan found within the limits has cheaper room for it"

    def _saved(self, pod: Pod, nodes: Sequence[str]) -> Floats:
        """float64[n], in millionths: how much less the requests of the replacement cost on each node, at least."""
        usage = RequestsAsUsage(self._evictor)
        after = usage.most_after(pod)  # first: it may make a row for a resource that nothing has
        saved: Floats = self._rates([pod.node_name])[0] @ usage.need(pod) - self._rates(nodes) @ after
        return saved

    def _rates_over(self, cluster: ClusterProblem) -> Floats:
        """float64[N, R]: the same for the problem's units of each resource."""
        return self._rates(cluster.nodes) * cluster.units.sizes

    def _rates(self, names: Sequence[str]) -> Floats:
        """float64[n, R]: what a unit of each resource costs on each of the nodes, in millionths."""
        openings = self._evictor.prover().openings()
        places = [openings.place_of(name) for name in names]
        cost = THOUSANDTHS * np.array([self._cost[name] for name in names], dtype=np.float64)
        rates = np.zeros((len(names), len(openings.resources)))
        for row in map(openings.resources.index, _CHARGED):
            share = 1.0 / np.maximum(openings.capacity[row, places], 1)
            rates[:, row] = _MILLIONTHS * cost * share / len(_CHARGED)
        return rates


def _thousandths(millionths: float) -> int:
    return round(millionths / _MILLIONTHS)
