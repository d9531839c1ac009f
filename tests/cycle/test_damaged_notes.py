"""What runs keep for the next one is text in ConfigMaps, which anybody who may write them can damage."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from descheduler.plan.recent_moves import RecentMove, RecentMoves, RecentMovesError, WorkloadId
from descheduler.plan.run_memory import PluginMemory, RunMemory, RunMemoryError
from descheduler.report.document import ShardIdentity
from descheduler.report.outcome.predictions import Predictions
from descheduler.report.outcome.status_document import NOTHING_TAKEN_UP, RunSummary, StatusDocument, StatusError
from descheduler.report.tables.head_line import head_lines, head_parts
from descheduler.report.tables.status_table import status_table
from descheduler.report.tables.table_style import TableStyle
from descheduler.strategies.low_node_load.args import LoadAnomalyCondition
from descheduler.strategies.low_node_load.detector import Detectors
from descheduler.strategies.remove_pods_violating_node_reservation.observations import Observations, Required
from descheduler.strategies.remove_pods_violating_node_reservation.reserving_node import ReservedShortage, ReservingNode
from tests.builders import NOW, make_node
from tests.worlds.mutations import mutations

_NUMBER = 500
RESERVING = ReservingNode("a", ReservedShortage(make_node("a"), ()), closed=None)
_MINUTE = timedelta(minutes=1)


class _Wrapped(msgspec.Struct):
    document: msgspec.Raw = msgspec.Raw(b"null")


def damaged(text: str | bytes, seed: int) -> Iterator[bytes]:
    """The JSON document `text`, damaged in one or two places, many times."""
    sample = {"metadata": {}, "document": json.loads(text)}
    for mutant in mutations(sample, _NUMBER, seed):
        try:
            yield bytes(msgspec.json.decode(mutant, type=_Wrapped).document)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            yield mutant


def read_memory(text: bytes) -> None:
    """As a run reads it and writes it again."""
    try:
        memory = RunMemory.decoded(text.decode(errors="replace"))
    except RunMemoryError:
        return
    memory.after(NOW, {"p/A/1": b"1"}).encoded()


def read_moves(text: bytes) -> None:
    """As `moveHistory` reads them."""
    try:
        moves = RecentMoves.decoded(text)
    except RecentMovesError:
        return
    moves.of(WorkloadId("Deployment", "shop", "web", "u"), since=NOW - _MINUTE)
    moves.after(NOW, (), keep=_MINUTE).encoded()


def read_status(text: bytes) -> None:
    """As `descheduler status` and the next run read it."""
    try:
        status = StatusDocument.decoded(text.decode(errors="replace"))
    except StatusError:
        return
    status.encoded()
    list(head_lines(head_parts(status), TableStyle()))
    list(status_table(status, TableStyle()))


def read_detectors(text: bytes) -> None:
    """As LowNodeLoad reads them."""
    detectors = Detectors(PluginMemory(text, NOW - _MINUTE), NOW, _MINUTE, _MINUTE)
    condition = LoadAnomalyCondition(consecutive_abnormalities=3)
    detectors.node.abnormal(["a"], condition)
    detectors.node.mark_normal(["a"], condition)
    detectors.note()


def read_observations(text: bytes) -> None:
    """As RemovePodsViolatingNodeReservation reads them."""
    observations = Observations(PluginMemory(text, NOW - _MINUTE), NOW, _MINUTE, Required(3, timedelta(hours=1)))
    observations.see(RESERVING)
    observations.waits(RESERVING.name)
    observations.sentence(RESERVING.name)
    observations.note()


def observed() -> bytes:
    """What one run has left of node a."""
    observations = Observations(PluginMemory(), NOW - _MINUTE, _MINUTE, Required(3, None))
    observations.see(RESERVING)
    return observations.note()


def detected() -> bytes:
    """The same of LowNodeLoad."""
    detectors = Detectors(PluginMemory(), NOW - _MINUTE, _MINUTE, _MINUTE)
    detectors.node.abnormal(["a"], LoadAnomalyCondition(consecutive_abnormalities=3))
    return detectors.note()


def moved() -> bytes:
    """A move that a run has made."""
    return RecentMoves([RecentMove(WorkloadId("Deployment", "shop", "web", "u"), "a", "b", NOW, "done")]).encoded()


def told() -> str:
    """The status after one run."""
    run = RunSummary(
        at=NOW,
        version="1",
        policy="policy.yaml",
        policy_digest="d",
        shard=ShardIdentity(index=1, count=4, label="rack", turn="", num_nodes=3),
        planned=2,
        counts={"evicted": 1},
        unconfirmed=0,
        plugins=(),
        not_evicted={"NodeFit": 3},
        predictions=Predictions(as_predicted=1, tied=0, elsewhere=0, not_seen=0, hit_rate=1.0),
        goals=(),
        taken_up=NOTHING_TAKEN_UP,
        reservations_unused=0,
        stopped_by="",
        skipped="",
        seconds=1.5,
        num_api_calls=9,
    )
    return StatusDocument.decoded("").with_run(run).encoded()


def remembered() -> str:
    """The memory of a run with two plugins."""
    return RunMemory().after(NOW, {"p/A/1": moved(), "p/B/1": detected()}).encoded()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        pytest.param(remembered(), read_memory, id="the memory of runs"),
        pytest.param(moved(), read_moves, id="recent moves"),
        pytest.param(detected(), read_detectors, id="overutilized nodes"),
        pytest.param(observed(), read_observations, id="violated reservations"),
        pytest.param(told(), read_status, id="the status of runs"),
    ],
)
def test_damaged_text_is_refused_or_read_and_ends_no_run(text: Any, read: Callable[[bytes], None]) -> None:
    for each in damaged(text, seed=7):
        read(each)


def test_status_of_a_version_without_shards_is_read() -> None:
    document = json.loads(told())
    del document["runs"][0]["shard"]

    status = StatusDocument.decoded(json.dumps(document))

    assert status.runs[0].shard is None
    assert json.loads(status.encoded())["runs"][0]["shard"] is None
