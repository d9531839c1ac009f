from __future__ import annotations

import json
import re

import pytest

from descheduler.cli.main import main
from descheduler.cycle.plugins import REGISTRY
from descheduler.policy.load import load_policy
from tests.docs.pages import ROOT, blocks, shown_policies

_ON_SHOP = ("--policy-config-file", "config/policy.yaml", "--snapshot", "config/samples/shop.jsonl.gz")
_ON_OPENB = ("--policy-config-file", "config/policy.yaml", "--snapshot", "config/samples/openb.jsonl.gz")
_POLICIES = [pytest.param(block, id=name) for name, block in shown_policies()]


@pytest.fixture(autouse=True)
def _in_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands are shown as they are typed at the root of the repository."""
    monkeypatch.chdir(ROOT)


def test_shown_move_is_that_of_the_sample_run(capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", *_ON_SHOP, "-o", "json"])
    moves = json.loads(capsys.readouterr().out)["moves"]

    (shown,) = blocks(ROOT / "docs" / "how-to" / "read-the-plan.md", "json")

    assert json.loads(shown) in moves


@pytest.mark.long
def test_shown_explanations_are_those_of_the_sample(capsys: pytest.CaptureFixture[str]) -> None:
    for pod in ("online/openb-pod-0721", "online/openb-pod-1570", "shared/openb-pod-2855"):
        main(["explain", "pod", pod, *_ON_OPENB])
    printed = " ".join(capsys.readouterr().out.split())
    page = ROOT / "docs" / "how-to" / "explain-a-pod.md"
    shown = [part for block in blocks(page, "text") for part in re.split("[\n…]", block) if part.strip()]

    stale = [part for part in shown if " ".join(part.strip(" ,):").split()) not in printed]

    assert stale == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("profile", "sample"),
    [("plan-balance", "shop"), ("plan-consolidate", "shop"), ("plan-consolidate-koordinator", "koordinator")],
)
def test_shown_goal_is_that_of_the_sample(profile: str, sample: str, capsys: pytest.CaptureFixture[str]) -> None:
    policy, snapshot = f"config/profiles/{profile}.yaml", f"config/samples/{sample}.jsonl.gz"
    main(["run", "--dry-run", "--policy-config-file", policy, "--snapshot", snapshot])
    (goal,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("Goal:"))

    assert goal in (ROOT / "docs" / "how-to" / "plan-migrations.md").read_text().splitlines()


@pytest.mark.parametrize("policy", _POLICIES)
def test_shown_policy_loads_without_a_warning(policy: str) -> None:
    assert load_policy(policy, REGISTRY).warnings == ()


def test_python_example_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = blocks(ROOT / "README.md", "python")

    exec(compile(example, "README.md", "exec"), {})  # noqa: S102 - our own example

    assert capsys.readouterr().out != ""
