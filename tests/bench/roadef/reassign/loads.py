"""What pods need on a node, in a neighbourhood's model: sums that the planner's own objectives have no use for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.objective import Neighbourhood, Term

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from descheduler.optimizer.cp_sat.node_model import NodeModel


class Loads:
    """The loads of nodes as the pods of `neighbourhood` are placed."""

    def __init__(self, model: NodeModel, placement: Arrangement, neighbourhood: Neighbourhood) -> None:
        self._model, self._placement = model, placement
        self._pods = neighbourhood.pods.tolist()

    def above(self, factors: Mapping[int, int], limit: int, node: int) -> Term:
        """How far the loads of the node, each resource's times its factor, are above `limit` in sum; at least 0.

        Exact where it is minimised.
        """
        placement, total, most = self._placement, -limit, 0
        terms: list[cp_model.LinearExpr] = []
        for resource, factor in factors.items():
            outside = int(placement.usage[resource, node])
            for pod in self._pods:
                need, term = int(placement.need[resource, pod]), self._model.is_at(pod, node)
                outside -= need if placement.at[pod] == node else 0
                if need and term is not None:
                    terms.append(factor * need * cast("cp_model.IntVar", term))
                    most += max(factor * need, 0)
            total += factor * outside
        variable = self._model.model.new_int_var(0, max(total + most, 0), "")
        self._model.model.add(variable >= sum(terms) + total)
        return variable
