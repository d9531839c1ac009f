"""What is checked of the plan in a file before it is looked at or applied."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from descheduler.report.plan import reading
from descheduler.report.plan.file import ClusterIdentity, make_plan_file
from descheduler.report.plan.making import make_plan
from descheduler.report.plan.reading import PlanFileError, read_plan, read_plan_file
from tests.report.decided_cycles import OLD, make_test_decisions, make_test_plan

MOST_NODES = 300_000
MOST_OF_A_RESOURCE = 2**63

Change = Callable[[Any], object]
"""Changes the decoded JSON of a document in place."""


def written(document: object, directory: Path, change: Change = lambda document: None) -> Path:
    content = msgspec.json.decode(msgspec.json.encode(document))
    change(content)
    file = directory / "plan.json"
    file.write_bytes(msgspec.json.encode(content))
    return file


def plan_file(directory: Path, change: Change = lambda document: None) -> Path:
    """A plan file with three moves, changed."""
    return written(make_plan_file(make_test_decisions(), ClusterIdentity(server="", uid="")), directory, change)


def plan_of_nodes(number: int, directory: Path) -> Path:
    """A plan whose groups have so many nodes that stay as they are, all in the first step."""
    plan = msgspec.json.decode(msgspec.json.encode(make_test_plan()))
    first, *others = plan["figures"]["groups"]
    first["unchanged"] = {"cpu": [number] + [0] * 20}
    for other in others:
        other["unchanged"] = {}
    file = directory / "plan.json"
    file.write_bytes(msgspec.json.encode(plan))
    return file


def test_plan_is_drawn_up_to_the_largest_number_of_nodes(tmp_path: Path) -> None:
    (group, *_) = read_plan(plan_of_nodes(MOST_NODES, tmp_path)).figures.groups

    assert sum(group.unchanged["cpu"]) == MOST_NODES
    with pytest.raises(PlanFileError, match="do not hold the nodes of a cluster"):
        read_plan(plan_of_nodes(MOST_NODES + 1, tmp_path))


def test_plan_is_the_same_out_of_a_plan_file_and_out_of_the_document_of_a_dry_run(tmp_path: Path) -> None:
    decisions = make_test_decisions()

    from_file = read_plan(plan_file(tmp_path))
    from_document = read_plan(written(make_plan(decisions), tmp_path))

    assert msgspec.json.encode(from_file) == msgspec.json.encode(from_document)
    assert [move.pod.name for move in from_file.moves] == list(OLD)


def test_document_of_a_dry_run_is_not_applied(tmp_path: Path) -> None:
    with pytest.raises(PlanFileError, match="is the document of a dry run; make a plan file"):
        read_plan_file(written(make_test_plan(), tmp_path))


def test_plan_file_is_read_to_be_applied(tmp_path: Path) -> None:
    file = read_plan_file(plan_file(tmp_path))

    assert [basis.uid for basis in file.bases] == [f"default-{name}" for name in OLD]


@pytest.mark.parametrize("size", [0, 1], ids=["as large as allowed", "larger"])
def test_no_more_is_read_than_the_largest_plan_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    file = plan_file(tmp_path)
    monkeypatch.setattr(reading, "MOST_BYTES", file.stat().st_size - size)

    if size:
        with pytest.raises(PlanFileError, match="is larger than"):
            read_plan_file(file)
    else:
        assert read_plan_file(file).kind == "PlanFile"


def _set(path: str, value: object) -> Change:
    """Sets what is at `path`, whose parts are keys and numbers."""
    *parts, last = [int(part) if part.isdigit() else part for part in path.split("/")]

    def change(document: Any) -> None:
        for part in parts:
            document = document[part]
        document[last] = value

    return change


def _room(*uids: str) -> list[object]:
    return [{"pod": {"namespace": "default", "name": uid, "uid": uid}, "node": "a"} for uid in uids]


def _pods(*uids: str) -> list[object]:
    return [{"namespace": "default", "name": f"p{number}", "uid": uid} for number, uid in enumerate(uids)]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param(_set("bases/0/uid", "other"), "moves and bases are not of the same pods", id="another pod"),
        pytest.param(lambda file: file["bases"].pop(), "moves and bases are not of the same pods", id="too few bases"),
        pytest.param(
            lambda file: [_set(path, "default-old-1")(file) for path in ("plan/moves/1/pod/uid", "bases/1/uid")],
            "a pod has no UID or is moved twice",
            id="moved twice",
        ),
        pytest.param(
            lambda file: [_set(path, "")(file) for path in ("plan/moves/1/pod/uid", "bases/1/uid")],
            "a pod has no UID or is moved twice",
            id="without UID",
        ),
        pytest.param(_set("plan/moves/0/roomFor", _room("x", "x")), "a pod in roomFor has no UID", id="room twice"),
        pytest.param(_set("plan/moves/0/roomFor", _room("")), "a pod in roomFor has no UID", id="room for nobody"),
        pytest.param(_set("bases/0/serves", _pods("x", "y", "x")), "a pod is named twice in serves", id="served twice"),
        pytest.param(
            _set("plan/snapshot/shard", {"index": 2, "count": 2, "label": "", "turn": "", "numNodes": 1}),
            "shard index 2 is not between 0 and 1",
            id="a shard that cannot be",
        ),
        pytest.param(_set("apiVersion", "descheduler.plan/v9"), "has apiVersion 'descheduler.plan/v9'", id="version"),
    ],
)  # fmt: skip
def test_plan_file_that_was_changed_is_not_applied(tmp_path: Path, change: Change, sentence: str) -> None:
    with pytest.raises(PlanFileError) as error:
        read_plan_file(plan_file(tmp_path, change))

    assert str(error.value).startswith(f"{tmp_path / 'plan.json'}: {sentence}")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_set("plan/moves/0/roomFor", _room("x", "y")), id="room for two pods"),
        pytest.param(_set("bases/0/serves", _pods("x", "", "")), id="a pod is served whose UID is not known"),
        pytest.param(_set("bases/0/serves", _pods("x", "y")), id="two pods are served"),
    ],
)
def test_plan_file_whose_pods_are_told_apart_is_applied(tmp_path: Path, change: Change) -> None:
    assert len(read_plan_file(plan_file(tmp_path, change)).bases) == len(OLD)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param(_set("figures/groups/0/unchanged", {"cpu": [0] * 20}), "do not hold the nodes", id="a step less"),
        pytest.param(
            _set("figures/groups/0/unchanged", {"cpu": [2, -1] + [0] * 19}), "do not hold the nodes", id="below zero"
        ),
        pytest.param(
            _set("figures/nodes/0/after/cpuMilli", MOST_OF_A_RESOURCE), "have an amount", id="more than a node can have"
        ),
        pytest.param(_set("figures/groups/0/after/pods", -1), "have an amount", id="a group with less than nothing"),
        pytest.param(_set("figures/nodes/0/allocatable/gpuMilli", -1), "have an amount", id="less than no GPU"),
        pytest.param(_set("figures/total/landing/pods", -1), "have an amount", id="less than nothing lands"),
    ],
)
def test_figures_that_cannot_be_are_not_drawn(tmp_path: Path, change: Change, sentence: str) -> None:
    with pytest.raises(PlanFileError, match=sentence):
        read_plan(written(make_test_plan(), tmp_path, change))


def test_largest_amount_of_a_node_is_drawn(tmp_path: Path) -> None:
    change = _set("figures/nodes/0/after/cpuMilli", MOST_OF_A_RESOURCE - 1)

    (node, *_) = read_plan(written(make_test_plan(), tmp_path, change)).figures.nodes

    assert node.after.cpu_milli == MOST_OF_A_RESOURCE - 1


def test_cause_of_a_file_that_is_no_plan_is_not_longer_than_a_line_or_two(tmp_path: Path) -> None:
    with pytest.raises(PlanFileError) as error:
        read_plan_file(plan_file(tmp_path, _set("apiVersion", "x" * 10_000)))

    assert len(str(error.value)) < 600


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        pytest.param("{", "is not a plan file of 'descheduler plan --out': Input data was truncated", id="cut"),
        pytest.param("[]", "is not a plan file of 'descheduler plan --out': Expected `object`, got `array`", id="list"),
        pytest.param("[" * 100_000, "is not a plan file of 'descheduler plan --out': ", id="too deep"),
        pytest.param(
            '{"kind": "Plan", "apiVersion": "descheduler.plan/v1"}',
            "is not a document of a dry run with -o json: Object missing required field `planId`",
            id="without fields",
        ),
    ],
)
def test_content_that_is_no_plan_is_said_to_be_none(tmp_path: Path, content: str, cause: str) -> None:
    file = tmp_path / "plan.json"
    file.write_text(content)

    with pytest.raises(PlanFileError) as error:
        read_plan(file)

    assert str(error.value).startswith(f"{file}: {cause}")


def test_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(PlanFileError, match=r"none\.json: cannot be read: no such file or directory"):
        read_plan_file(tmp_path / "none.json")


def test_plan_is_read_from_standard_input_unless_that_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = plan_file(tmp_path).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    assert len(read_plan_file("-").bases) == len(OLD)

    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(PlanFileError, match="standard input: is closed; pipe a plan into it"):
        read_plan_file("-")
