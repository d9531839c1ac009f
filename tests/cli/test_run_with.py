"""`--with` of run and explain: which pods a DeviceTaintRule would move, before it is created."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.commands import Descheduler

REPOSITORY = Path(__file__).resolve().parents[2]
SAMPLE = REPOSITORY / "config" / "samples" / "devices.jsonl.gz"
PROFILE = REPOSITORY / "config" / "profiles" / "dra.yaml"
RULE = """\
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: drain-part-2}
spec:
  deviceSelector: {driver: gpu.example.com, pool: part-2, device: half-0}
  taint: {key: gpu.example.com/drain, effect: NoSchedule}
"""


def moved(descheduler: Descheduler, *flags: str | Path) -> dict[str, str]:
    """The pods that a dry run on the sample evicts, with its reasons."""
    ended = descheduler("run", "--config", PROFILE, "--snapshot", SAMPLE, "-o", "json", *flags)
    assert ended.code == 0, ended.err
    return {move["pod"]["name"]: move["reason"] for move in json.loads(ended.out)["moves"]}


def test_plan_shows_what_the_rule_would_move(descheduler: Descheduler, tmp_path: Path) -> None:
    file = tmp_path / "rule.yaml"
    file.write_text(RULE)

    without, with_rule = moved(descheduler), moved(descheduler, "--with", file)

    assert with_rule.keys() - without.keys() == {"slice-1"}
    assert "gpu.example.com/drain:NoSchedule of device gpu.example.com/part-2/half-0" in with_rule["slice-1"]


def test_explanation_is_that_of_the_plan(descheduler: Descheduler, tmp_path: Path) -> None:
    file = tmp_path / "rule.yaml"
    file.write_text(RULE)
    asked = ("explain", "pod", "slice-1", "-n", "ml", "--config", PROFILE, "--snapshot", SAMPLE, "-o", "json")

    without, with_rule = descheduler(*asked), descheduler(*asked, "--with", file)

    assert [json.loads(each.out)["pod"]["decision"]["outcome"] for each in (without, with_rule)] == [
        "unwanted",
        "evicted",
    ]


def test_plan_names_the_pods_that_kube_controller_manager_would_delete(
    descheduler: Descheduler, tmp_path: Path
) -> None:
    file = tmp_path / "rule.yaml"
    file.write_text(RULE.replace("NoSchedule", "NoExecute"))
    arguments = ("run", "--config", PROFILE, "--snapshot", SAMPLE, "--with", file)

    plan, table = json.loads(descheduler(*arguments, "-o", "json").out), descheduler(*arguments).out

    left = {each["pod"]["name"] for each in plan["refusals"] if each["code"] == "NoExecute"}
    assert left == {"lost-0", "slice-1"}
    assert "slice-1" not in {move["pod"]["name"] for move in plan["moves"]}
    assert re.search("^2 +NoExecute +kube-controller-manager deletes pods for NoExecute .*lost-0", table, re.MULTILINE)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param(
            RULE + "---\nkind: Pod\napiVersion: v1\nmetadata: {name: p}\n",
            "rule.yaml:8: Pod (v1) cannot be assumed; use DeviceTaintRule (resource.k8s.io)",
            id="another kind",
        ),
        pytest.param(
            "kind: List\napiVersion: v1\nitems:\n- {kind: DeviceClass, apiVersion: resource.k8s.io/v1}\n",
            "rule.yaml:4: DeviceClass (resource.k8s.io/v1) cannot be assumed",
            id="another kind in a list",
        ),
        pytest.param("spec: {}\n", "rule.yaml:1: an object without kind cannot be assumed", id="no kind"),
        pytest.param("# nothing\n", "rule.yaml: holds no DeviceTaintRule", id="nothing"),
        pytest.param(
            RULE.replace("NoSchedule", "Evict"),
            "rule.yaml:1: spec.taint.effect: 'Evict' is not one of NoSchedule, NoExecute, None",
            id="no effect",
        ),
        pytest.param(RULE.replace("key:", "kee:"), "DeviceTaintRule has no spec.taint.key", id="no key"),
    ],
)
def test_file_that_holds_anything_else_is_refused(
    descheduler: Descheduler, tmp_path: Path, text: str, fault: str
) -> None:
    file = tmp_path / "rule.yaml"
    file.write_text(text)

    ended = descheduler("run", "--config", PROFILE, "--snapshot", SAMPLE, "--with", file)

    assert ended.code == 2
    assert fault in ended.err


def test_run_that_evicts_is_refused(descheduler: Descheduler, tmp_path: Path) -> None:
    file = tmp_path / "rule.yaml"
    file.write_text(RULE)

    ended = descheduler("run", "--config", PROFILE, "--with", file)

    assert ended.code == 2
    assert "--with needs --dry-run or --snapshot: its objects are not in the cluster" in ended.err
