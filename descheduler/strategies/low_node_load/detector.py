"""Whether overutilized nodes are so for long enough to act, and what the next run has to know of that.

Mirrors koordinator-sh/koordinator 1.8 `pkg/descheduler/utils/anomaly/basic_detector.go`, and the cache in which
`low_node_load.go` keeps detectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from heapq import nlargest

import msgspec

from descheduler.plan.run_memory import PluginMemory
from descheduler.strategies.low_node_load.args import LoadAnomalyCondition

_DEFAULT_TIMEOUT = timedelta(minutes=1)
_LONGEST_GAP = timedelta(hours=2)
"""A run that comes later than this after the last one starts again: how the nodes were in between is unknown."""
_ROUNDING = timedelta(seconds=1)
MOST_DETECTORS = 10_000
"""Nodes that are remembered, those marked last; each takes some 50 bytes."""


class _Detector(msgspec.Struct, array_like=True):
    """The state of one node. `abnormal_since` is None while it is normal; times are seconds since 1970."""

    num_abnormal: int = 0
    num_normal: int = 0
    abnormal_since: float | None = None
    marked_at: float = 0.0

    def state(self, condition: LoadAnomalyCondition, now: float) -> bool:
        """Whether the node is abnormal; it is normal again when its time is over, or by enough normal marks."""
        if self.abnormal_since is not None and (
            self.abnormal_since + _timeout(condition).total_seconds() < now
            or self.num_normal > condition.consecutive_normalities
        ):
            self.reset()
        return self.abnormal_since is not None

    def mark_abnormal(self, condition: LoadAnomalyCondition, now: float) -> bool:
        """Whether the node is abnormal after one more time."""
        is_abnormal = self.state(condition, now)
        self.num_abnormal, self.num_normal = self.num_abnormal + 1, 0
        if not is_abnormal and self.num_abnormal > condition.consecutive_abnormalities:
            self.num_abnormal, self.abnormal_since = 0, now
        self.marked_at = now
        return self.state(condition, now)

    def mark_normal(self, condition: LoadAnomalyCondition, now: float) -> None:
        """Counts one normal mark, which ends the abnormal ones in a row."""
        self.state(condition, now)
        self.num_abnormal, self.num_normal = 0, self.num_normal + 1

    def reset(self) -> None:
        """Has an abnormal node be normal. The marks of one that is not abnormal yet stay, as in the original."""
        if self.abnormal_since is not None:
            self.num_abnormal, self.num_normal, self.abnormal_since = 0, 0, None


class DetectorSet:
    """The detectors of one phase by node name, as they are `now` (seconds since 1970)."""

    def __init__(self, detectors: Mapping[str, _Detector], now: float, lifetime: timedelta) -> None:
        """Without those that were marked more than `lifetime` ago."""
        oldest = now - lifetime.total_seconds()
        self._now = now
        self._detectors = {name: each for name, each in detectors.items() if oldest <= each.marked_at <= now}

    def abnormal(self, node_names: Iterable[str], condition: LoadAnomalyCondition) -> set[str]:
        """Marks nodes that are overutilized, and gives those that are so for long enough; with 1 all of them."""
        if condition.consecutive_abnormalities == 1:
            return set(node_names)
        detectors = {name: self._detectors.setdefault(name, _Detector()) for name in node_names}
        return {name for name, detector in detectors.items() if detector.mark_abnormal(condition, self._now)}

    def mark_normal(self, node_names: Iterable[str], condition: LoadAnomalyCondition) -> None:
        """Marks nodes that were relieved."""
        for name in node_names:
            if name in self._detectors:
                self._detectors[name].mark_normal(condition, self._now)

    def reset(self, node_names: Iterable[str]) -> None:
        """Has nodes be normal."""
        for name in node_names:
            if name in self._detectors:
                self._detectors[name].reset()

    def num_marks(self, node_name: str) -> int:
        """In how many runs in a row a node was overutilized, the last one included."""
        detector = self._detectors.get(node_name)
        return 0 if detector is None else detector.num_abnormal

    def latest(self) -> dict[str, _Detector]:
        """The detectors that are worth keeping, in name order."""
        latest = nlargest(MOST_DETECTORS // 2, self._detectors.items(), key=lambda item: item[1].marked_at)
        return dict(sorted(latest))


class _Note(msgspec.Struct):
    node: dict[str, _Detector] = {}
    prod: dict[str, _Detector] = {}


_decode_note = msgspec.json.Decoder(_Note).decode


class Detectors:
    """The detectors of both phases: `node` for the load of nodes, `prod` for that of their prod pods."""

    def __init__(self, memory: PluginMemory, now: datetime, cache_timeout: timedelta, interval: timedelta) -> None:
        """As the last run left them; a note that cannot be read counts as none.

        A detector lives for `cache_timeout`, and at least until the next run, as Koordinator has it: for the
        descheduling `interval`, and for the time since the last run as far as that is believable for a schedule.
        """
        at = now.astimezone(UTC).timestamp()
        gap = timedelta(0) if memory.saved_at is None else now - memory.saved_at + _ROUNDING
        lifetime = max(cache_timeout, interval, gap if gap <= _LONGEST_GAP else timedelta(0))
        note = _read(memory.note)
        self.node = DetectorSet(note.node, at, lifetime)
        self.prod = DetectorSet(note.prod, at, lifetime)
        self.missing = memory.missing

    def note(self) -> bytes:
        """What the next run has to know; empty when it is nothing."""
        note = _Note(self.node.latest(), self.prod.latest())
        return msgspec.json.encode(note) if note.node or note.prod else b""


def _read(note: bytes) -> _Note:
    if not note:
        return _Note()
    try:
        return _decode_note(note)
    except (ValueError, RecursionError):
        return _Note()


def _timeout(condition: LoadAnomalyCondition) -> timedelta:
    """Zero and less stand for the default."""
    timeout = condition.timeout
    return timeout if timeout is not None and timeout > timedelta(0) else _DEFAULT_TIMEOUT
