"""What scheduling plugins answer and hand out that are not of this program, behind guards. All raise WrongAnswer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from descheduler.model.pod import Pod
from descheduler.placement.framework.extension_points import PreFilterResult, ReasonBits, Scores
from descheduler.placement.framework.interactions import CAUTIOUS, EndingInteractions, Interactions
from descheduler.placement.framework.matched_reservations import Allocation, TellingLedger
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Cycle, Ledger
from descheduler.placement.shadow.views import SeenPod
from descheduler.policy.plugin_faults import (
    Origin,
    PluginFault,
    WrongAnswer,
    a_mapping,
    at_most,
    fault_of,
    is_of,
    is_own_code,
    note_fault,
    text_of,
)

_Question = Literal["can_be_helped", "is_local", "is_felt_widely", "interact", "hinders_while_ending"]


class Trouble:
    """Whether a plugin has failed: what it says afterwards does not count any more."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.fault: PluginFault | None = None
        """The first one."""

    def note(self, error: BaseException) -> PluginFault:
        """Notes what the plugin has raised, and returns it as its fault."""
        fault = fault_of(self.origin, error)
        if self.fault is None:
            self.fault = fault
            note_fault(fault)
        return fault


class ForeignLedger:
    """A ledger that takes nothing once its plugin has failed. `inner` is the plugin's own."""

    def __init__(self, inner: Ledger[Any], trouble: Trouble) -> None:
        self.inner = inner
        self._trouble = trouble

    def reserve(self, cycle: Cycle, node: int) -> object | None:
        """As `inner`; a fault is a condition of the landing."""
        if self._trouble.fault is not None:
            return None
        try:
            taken: object | None = self.inner.reserve(cycle, node)
        except BaseException as error:
            cycle.notes.append(str(self._trouble.note(error)))
            return None
        return taken

    def release(self, taken: object) -> None:
        """As `inner`."""
        self._change(self.inner.release, taken)

    def restore(self, taken: object) -> None:
        """As `inner`."""
        self._change(self.inner.restore, taken)

    def _change(self, change: Callable[[Any], None], taken: object) -> None:
        try:
            change(taken)
        except BaseException as error:
            self._trouble.note(error)

    def fingerprint(self) -> object:
        """As `inner`; the same for all states once that has failed."""
        try:
            return repr(self.inner.fingerprint())
        except BaseException as error:
            return str(self._trouble.note(error))


class _TellingLedger(ForeignLedger):
    """One that tells what it took by name."""

    def allocations(self, taken: Any) -> tuple[Allocation, ...]:
        """As `inner`; nothing where that fails."""
        if self._trouble.fault is None and isinstance(self.inner, TellingLedger):
            try:
                return tuple(
                    [_checked_allocation(each) for each in at_most(self.inner.allocations(taken), 1_000, _TOLD)]
                )
            except BaseException as error:
                self._trouble.note(error)
        return ()


_TOLD = "allocations()"


def _checked_allocation(given: object) -> Allocation:
    told = is_of(given, Allocation, "an allocation")
    resources = {text_of(name, _TOLD): is_of(number, int, _TOLD) for name, number in told.resources.items()}
    return Allocation(text_of(told.plugin, _TOLD), text_of(told.kind, _TOLD), text_of(told.name, _TOLD), resources)


def guarded_ledger(given: Ledger[Any], trouble: Trouble) -> ForeignLedger:
    """The ledger of a plugin behind its guard."""
    kind = _TellingLedger if isinstance(given, TellingLedger) else ForeignLedger
    return kind(given, trouble)


def guarded_interactions(given: object, trouble: Trouble) -> Interactions:
    """Interactions of a plugin; the most cautious where they fail."""
    if is_own_code(type(given)):
        return given  # type: ignore[return-value] # those of this program
    kind = _ForeignEndingInteractions if isinstance(given, EndingInteractions) else _ForeignInteractions
    return kind(given, trouble)


class _ForeignInteractions:
    """Answers as those of a plugin, and with all caution once it has failed."""

    def __init__(self, inner: object, trouble: Trouble) -> None:
        self._inner = inner
        self._trouble = trouble

    def can_be_helped(self, pod: Pod) -> bool:
        return self._answer("can_be_helped", pod)

    def is_local(self, pod: Pod) -> bool:
        return self._answer("is_local", pod)

    def is_felt_widely(self, pod: Pod) -> bool:
        return self._answer("is_felt_widely", pod)

    def interact(self, first: Pod, second: Pod) -> bool:
        return self._answer("interact", first, second)

    def _answer(self, question: _Question, *pods: Pod) -> bool:
        if self._trouble.fault is None:
            try:
                return bool(is_of(getattr(self._inner, question)(*pods), int, f"{question}()"))
            except BaseException as error:
                self._trouble.note(error)
        return bool(getattr(CAUTIOUS, question)(*pods)) if hasattr(CAUTIOUS, question) else True


class _ForeignEndingInteractions(_ForeignInteractions):
    def hinders_while_ending(self, ending: Pod, pod: Pod) -> bool:
        return self._answer("hinders_while_ending", ending, pod)


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
    if int(bits.min(initial=0)) < 0:
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
