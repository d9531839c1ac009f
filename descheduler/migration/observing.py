"""Where replacements of evicted pods are ready some time after a run: for the report alone, nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

from msgspec.structs import replace

from descheduler.kube.objects import ObjectCalls
from descheduler.migration.pods import decode_pod, pods_path
from descheduler.migration.replacements import Successors, is_replaced, successors_of
from descheduler.model.pod import Pod
from descheduler.plan.outcome import Outcome, OutcomeKind
from descheduler.supervision import RunStopped, Watch
from descheduler.transport.errors import ExchangeError

_FIRST_WAIT_SECONDS = 5.0
_LONGEST_WAIT_SECONDS = 30.0


class Observer:
    """Looks for the replacements of `outcomes`: ready pods of the same controllers that are none of the `known` UIDs.

    Which of several pods of a controller came for which evicted one is not known; they are matched by name, then by the
    expected node.
    """

    def __init__(self, outcomes: Sequence[Outcome], known: AbstractSet[str], objects: ObjectCalls) -> None:
        self._outcomes = outcomes
        self._known = known
        self._objects = objects
        self._groups: dict[tuple[str, str], list[Outcome]] = {}
        """Evictions whose replacements were not seen yet, by namespace and UID of the controller."""
        for outcome in filter(_is_awaited, outcomes):
            eviction = outcome.eviction
            self._groups.setdefault((eviction.namespace, eviction.controller_uid), []).append(outcome)
        self._ready: dict[tuple[str, str], list[Pod]] = {key: [] for key in self._groups}

    def watch(self, most_seconds: float, watch: Watch) -> str:
        """Looks again and again until all are there, for so long at most; ends at once when the run's time is over.

        Says what went wrong, "" for nothing.
        """
        end, wait = watch.clock() + most_seconds, _FIRST_WAIT_SECONDS
        try:
            while self._missing:
                watch.tell(f"waiting for replacement pods to be ready: {self._missing:,} missing (--observe)")
                watch.sleep(max(0.0, min(wait, end - watch.clock())))
                for key in self._incomplete:
                    self._ready[key] = watch.call("looking for replacement pods", partial(self._look, key))
                if watch.clock() >= end:
                    break
                wait = min(2 * wait, _LONGEST_WAIT_SECONDS)
        except RunStopped:
            return ""
        except ExchangeError as error:
            return f"where replacement pods are ready is not known: {error}"
        return ""

    @property
    def _incomplete(self) -> list[tuple[str, str]]:
        return [key for key, members in self._groups.items() if len(self._ready[key]) < len(members)]

    @property
    def _missing(self) -> int:
        return sum(len(self._groups[key]) - len(self._ready[key]) for key in self._incomplete)

    def _look(self, key: tuple[str, str]) -> list[Pod]:
        """The ready pods that have come for a controller. Raises ExchangeError."""
        successors = successors_of(self._groups[key][0].eviction)
        assert successors is not None  # noqa: S101 - it is replaced
        path = pods_path(successors.namespace)
        found = self._objects.list_readable(path, decode_pod, label_selector=successors.selector)
        return [pod for pod in found if self._has_come(pod, successors)]

    def _has_come(self, pod: Pod, successors: Successors) -> bool:
        return successors.has(pod) and pod.uid not in self._known and pod.deleted_at is None and pod.is_ready

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The outcomes with the nodes on which replacements were seen ready."""
        seen = {uid: node for key, pods in self._ready.items() for uid, node in _matched(self._groups[key], pods)}
        return tuple(
            replace(outcome, landed_on=seen[outcome.eviction.uid]) if outcome.eviction.uid in seen else outcome
            for outcome in self._outcomes
        )


def _is_awaited(outcome: Outcome) -> bool:
    return outcome.kind is OutcomeKind.EVICTED and not outcome.landed_on and is_replaced(outcome.eviction)


def _matched(awaited: Iterable[Outcome], pods: Iterable[Pod]) -> list[tuple[str, str]]:
    """The UID of each evicted pod and the node of its replacement, as far as there are any."""
    left, waiting, found = list(pods), list(awaited), list[tuple[str, str]]()
    for fits in (_has_name, _is_expected, _is_tied, lambda outcome, pod: True):
        for outcome in list(waiting):
            if (pod := next(filter(partial(fits, outcome), left), None)) is not None:
                found.append((outcome.eviction.uid, pod.node_name))
                left.remove(pod)
                waiting.remove(outcome)
    return found


def _has_name(outcome: Outcome, pod: Pod) -> bool:
    return pod.name == outcome.eviction.name


def _is_expected(outcome: Outcome, pod: Pod) -> bool:
    landing = outcome.eviction.landing
    return landing is not None and pod.node_name == landing.node


def _is_tied(outcome: Outcome, pod: Pod) -> bool:
    landing = outcome.eviction.landing
    return landing is not None and pod.node_name in landing.ties
