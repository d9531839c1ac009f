"""Which objects --with takes to have been created."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from descheduler.cli.flags.assumed import takes_assumed
from tests.cli.flags.taking import refusal, taken


def rule(name: str = "maintenance", **change: Any) -> dict[str, Any]:
    taint = {"key": "example.com/unhealthy", "effect": "NoExecute", **change.pop("taint", {})}
    return {
        "apiVersion": "resource.k8s.io/v1beta2",
        "kind": "DeviceTaintRule",
        "metadata": {"name": name},
        "spec": {"taint": taint},
        **change,
    }


def written(directory: Path, *documents: object) -> str:
    file = directory / "rules.yaml"
    file.write_text("---\n".join(f"{json.dumps(each)}\n" for each in documents))
    return str(file)


def names(file: str) -> list[str]:
    return [each["metadata"]["name"] for each in taken(takes_assumed, "--with", file)["assumed"]]


def test_nothing_is_assumed_where_no_file_is_named() -> None:
    assert taken(takes_assumed)["assumed"] == ()


def test_rules_of_several_documents_and_of_lists_are_assumed(tmp_path: Path) -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": [rule("b"), rule("c")]}

    assert names(written(tmp_path, rule("a"), None, listed)) == ["a", "b", "c"]


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute", "None"])
def test_every_effect_of_a_device_taint_is_taken(tmp_path: Path, effect: str) -> None:
    assert names(written(tmp_path, rule(taint={"effect": effect}))) == ["maintenance"]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        pytest.param(rule(kind="Node"), "Node (resource.k8s.io/v1beta2) cannot be assumed", id="another kind"),
        pytest.param(
            rule(apiVersion="example.com/v1"), "DeviceTaintRule (example.com/v1) cannot be", id="another group"
        ),
        pytest.param({"kind": "Node"}, ":1: Node cannot be assumed; use DeviceTaintRule", id="no version"),
        pytest.param({"a": 1}, ":1: an object without kind cannot be assumed", id="no kind"),
        pytest.param({"apiVersion": "v1"}, "an object without kind (v1) cannot be assumed", id="no kind but a version"),
        pytest.param(rule(name=""), "DeviceTaintRule has no metadata.name", id="no name"),
        pytest.param(rule(metadata="x"), "DeviceTaintRule has no metadata.name", id="no metadata"),
        pytest.param(rule(taint={"key": ""}), "DeviceTaintRule has no spec.taint.key", id="no key"),
        pytest.param(rule(taint={"effect": None}), "DeviceTaintRule has no spec.taint.effect", id="no effect"),
        pytest.param(rule(taint={"effect": "Evict"}), "'Evict' is not one of NoSchedule, NoExecute, None", id="effect"),
        pytest.param(None, "holds no DeviceTaintRule", id="nothing"),
        pytest.param({"items": []}, "holds no DeviceTaintRule", id="an empty list"),
    ],
)
def test_anything_else_is_refused(tmp_path: Path, document: object, message: str) -> None:
    assert message in refusal(takes_assumed, "--with", written(tmp_path, document))


def test_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    assert str(tmp_path / "none") in refusal(takes_assumed, "--with", str(tmp_path / "none"))
