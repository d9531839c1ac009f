"""One pod tried by its scheduler: where it would go, and on which conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from descheduler.model.node import Node
from descheduler.model.selection.taints import NO_EXECUTE, Toleration
from descheduler.placement.framework.evaluation import Choice, PodEvaluation
from descheduler.placement.shadow.shadow_cluster import Ledger, Placed

Picker = Callable[[PodEvaluation, Choice], int]
"""Says which node is taken, from what the filters say and what the scores do."""


def first_of_ties(evaluation: PodEvaluation, choice: Choice) -> int:
    """The predicted node."""
    return choice.node


class Placement(msgspec.Struct, frozen=True, gc=False):
    """Where a pod was put, out of what choice, and the conditions of it, sentences all of which must hold.

    `placed` is what takes it off its node again; `cause` is that of the evaluation.
    """

    placed: Placed
    choice: Choice
    conditions: tuple[str, ...]
    cause: str = ""

    @property
    def node(self) -> int:
        """The index of the node."""
        return self.placed.node


class Attempt(msgspec.Struct, frozen=True, gc=False):
    """What came of one try. Without a `placement` the `evaluation` says why.

    A pod that fits on several nodes and cannot be scored is not placed although `evaluation.fits`.
    """

    evaluation: PodEvaluation
    placement: Placement | None = None


def place(evaluation: PodEvaluation, pick: Picker = first_of_ties) -> Attempt:
    """Places the evaluated pod where its scheduler would, by the last word of `pick`, and leaves it there."""
    choice = evaluation.choose()
    if choice is None:
        return Attempt(evaluation)
    return Attempt(evaluation, put_on_node(evaluation, pick(evaluation, choice), choice))


def put_on_node(
    evaluation: PodEvaluation, node: int, choice: Choice | None = None, ledgers: Sequence[Ledger[Any]] = ()
) -> Placement:
    """Puts the evaluated pod on `node`, out of `choice` or else without any, with what it takes out of `ledgers`."""
    told = _conditions(evaluation, choice.ties if choice is not None and choice.cause else (node,))
    placed = evaluation.place(node, *ledgers)
    # Reserving may have found some more, so the notes come last.
    told += [*evaluation.cycle.notes]
    conditions = tuple(dict.fromkeys(told)) if told else ()
    return Placement(placed, choice or Choice(node, 0, (node,), None, is_sampled=False), conditions, evaluation.cause)


def _conditions(evaluation: PodEvaluation, nodes: Sequence[int]) -> list[str]:
    """On what it hangs that the evaluated pod starts and stays on whichever of `nodes` is chosen."""
    cycle, told = evaluation.cycle, list[str]()
    for node in nodes:
        stay = _eviction_by_taint(cycle.pod.spec.tolerations, cycle.cluster.table.nodes[node])
        told += [sentence for sentence in (*evaluation.conditions(node), stay) if sentence]
    return told


def _eviction_by_taint(tolerations: tuple[Toleration, ...], node: Node) -> str:
    """The sentence where `node` evicts a pod of these tolerations after some seconds, else an empty string.

    The first toleration of each taint counts, and of several times the shortest, as in
    `k8s.io/kubernetes/pkg/controller/tainteviction/taint_eviction.go` (1.36). Placement itself asks for no time.
    """
    shortest: tuple[int, str] | None = None
    for taint in node.taints:
        if taint.effect == NO_EXECUTE:
            used = next((toleration for toleration in tolerations if toleration.tolerates(taint)), None)
            if used is not None and used.toleration_seconds is not None:
                time = max(0, used.toleration_seconds), taint.key
                shortest = time if shortest is None else min(shortest, time)
    if shortest is None:
        return ""
    return f"node {node.name} evicts the pod again after {shortest[0]} s (tolerationSeconds for taint {shortest[1]})"
