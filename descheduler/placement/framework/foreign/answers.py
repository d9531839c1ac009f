"""What scheduling plugins answer that are not of this program, each as it comes in. All raise WrongAnswer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from descheduler.model.pod import Pod
from descheduler.placement.framework.extension_points import PreFilterResult, ReasonBits, Scores
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Cycle
from descheduler.placement.shadow.views import SeenPod
from descheduler.policy.plugin_faults import WrongAnswer, a_mapping, at_most, is_of, text_of

__all__ = [
    "checked_bits",
    "checked_cycle",
    "checked_mask",
    "checked_obstacle",
    "checked_patch",
    "checked_pre_filter",
    "checked_scores",
    "checked_sentences",
]

_MOST_SCORE = 100
_MOST_SENTENCES = 100
_MOST_ANNOTATIONS = 100


def checked_pre_filter(answer: object, name: str, cycle: Cycle) -> PreFilterResult:
    """What comes before nodes are looked at."""
    result = is_of(answer, PreFilterResult, "pre_filter()")
    if result.nodes is not None:
        checked_mask(result.nodes, cycle, "the nodes of pre_filter()")
    obstacle = checked_obstacle(result.obstacle, name, "the obstacle of pre_filter()")
    return result if obstacle is result.obstacle else replace(result, obstacle=obstacle)


def checked_cycle(cycle: Cycle) -> None:
    """What a plugin may have left in a cycle."""
    is_of(cycle.pod, PlacementClass, "the pod of the cycle")
    number = len(cycle.cluster.table)
    for each in (*cycle.seen, *cycle.unseen):
        is_of(is_of(each, SeenPod, "a pod that is seen in the cycle").pod, Pod, "a pod that is seen in the cycle")
        if not 0 <= is_of(each.node, int, "a node of the cycle") < number:
            raise WrongAnswer(f"the cycle names node {each.node}; there are {number} nodes")
    for room in cycle.credit.values():
        _column(room, cycle, "the credit of the cycle")
    cycle.notes[:] = checked_sentences(cycle.notes, "the notes of the cycle")


def checked_obstacle(answer: object, name: str, what: str) -> Obstacle | None:
    """What the plugin `name` has against a pod; None for nothing."""
    if answer is None:
        return None
    obstacle = is_of(answer, Obstacle, what)
    is_of(obstacle.code, Code, f"the code of {what}")
    reasons = tuple([text_of(reason, f"a reason of {what}") for reason in at_most(obstacle.reasons, 100, what)])
    for fact in at_most(obstacle.facts, _MOST_SENTENCES, what):
        text_of(getattr(fact, "short", None), f"a fact of {what}")
    if len(obstacle.facts) not in (0, len(reasons)):
        raise WrongAnswer(f"{what} has {len(obstacle.facts)} facts and {len(reasons)} reasons")
    is_as_it_was = reasons == obstacle.reasons and obstacle.plugin == name
    return obstacle if is_as_it_was else Obstacle(name, obstacle.code, reasons)


def checked_mask(answer: object, cycle: Cycle, what: str) -> BoolMask:
    """A truth for each node."""
    mask = _column(answer, cycle, what)
    if mask.dtype != np.bool_:
        raise WrongAnswer(f"{what} is an array of {mask.dtype}, not of bool")
    return mask


def checked_bits(answer: object, cycle: Cycle) -> ReasonBits | None:
    """The reasons against each node."""
    if answer is None:
        return None
    bits = _column(answer, cycle, "filter()")
    if bits.dtype == np.uint32:
        return bits
    if bits.dtype.kind not in "biu":
        raise WrongAnswer(f"filter() is an array of {bits.dtype}, not of reason bits")
    if bits.dtype.kind == "i" and len(bits) and int(bits.min()) < 0:
        raise WrongAnswer("filter() has negative reason bits")
    return bits.astype(np.uint32)


def checked_scores(answer: object, cycle: Cycle, feasible: BoolMask) -> Scores | None:
    """The scores of the nodes; those of nodes that are not feasible mean nothing."""
    if answer is None:
        return None
    scores = is_of(answer, Scores, "score()")
    if scores.level is not None:
        _check_range(np.array([is_of(scores.level, int, "the level of score()")]))
    final = _column(scores.final, cycle, "score()")
    if final.dtype.kind not in "biuf":
        raise WrongAnswer(f"score() is an array of {final.dtype}, not of numbers")
    _check_range(final[feasible])
    whole = np.where(feasible, final, 0).astype(np.int64) if final.dtype != np.int64 else final
    return Scores(whole, scores.raw, scores.level)


def _check_range(scores: NDArray[Any]) -> None:
    wrong = scores[~((scores >= 0) & (scores <= _MOST_SCORE))]
    if len(wrong):
        raise WrongAnswer(f"score() gives {wrong[0]}, which is not between 0 and {_MOST_SCORE}")


def _column(answer: object, cycle: Cycle, what: str) -> NDArray[Any]:
    column: NDArray[Any] = is_of(answer, np.ndarray, what)
    number = len(cycle.cluster.table)
    if column.shape != (number,):
        raise WrongAnswer(f"{what} has the shape {column.shape}; there are {number} nodes")
    return column


def checked_sentences(answer: object, what: str) -> tuple[str, ...]:
    """Conditions, each a sentence."""
    return tuple([text_of(each, f"a sentence of {what}") for each in at_most(answer, _MOST_SENTENCES, what)])


def checked_patch(answer: object) -> Mapping[str, str]:
    """Annotations."""
    written = a_mapping(answer, "patch()")
    if len(written) > _MOST_ANNOTATIONS:
        raise WrongAnswer(f"patch() writes more than {_MOST_ANNOTATIONS} annotations")
    return {
        text_of(key, "a key of patch()"): text_of(value, "an annotation of patch()", most=256 * 1024)
        for key, value in written.items()
    }
