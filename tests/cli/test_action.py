"""The composite action of GitHub: its script, run as the runner does it, with inputs in its environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.pages import ROOT

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
(SCRIPT,) = (step for step in ACTION["runs"]["steps"] if step.get("name") == "Validate")


@pytest.fixture
def workspace(tmp_path: Path, policy: Path) -> Path:
    """A checkout with the program as the action's first steps install it, a policy, a doubtful and a broken one."""
    program = tmp_path / "bin" / "descheduler"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m descheduler "$@"\n')
    program.chmod(0o755)
    text = policy.read_text()
    (tmp_path / "deep" / "down").mkdir(parents=True)
    (tmp_path / "deep" / "down" / "good.yaml").write_text(text)
    (tmp_path / "doubtful.yaml").write_text(f"{text}unknownField: 1\n")
    (tmp_path / "broken.yaml").write_text(text.replace("maxPodLifeTimeSeconds", "maxPodLifeTime"))
    return tmp_path


def run(workspace: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The script with these inputs, and the defaults of the others."""
    given = {name: str(each.get("default", "")) for name, each in ACTION["inputs"].items()}
    given |= {name.replace("_", "-"): value for name, value in inputs.items()}
    environ = {
        name: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: given[found[1]], value)
        for name, value in SCRIPT["env"].items()
    }
    programs = f"{workspace / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        # As the runner calls it for `shell: bash`.
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", SCRIPT["run"]],
        cwd=workspace,
        env={**os.environ, **environ, "PATH": programs, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_action_validates_the_files_that_match(workspace: Path) -> None:
    ended = run(workspace, files="**/good.yaml\nnone-*.yaml")

    assert (ended.returncode, ended.stdout) == (0, "deep/down/good.yaml: valid DeschedulerPolicy\n")


@pytest.mark.long
def test_action_fails_for_an_invalid_policy_and_writes_its_findings(workspace: Path) -> None:
    ended = run(workspace, files="broken.yaml deep/down/good.yaml", sarif_file="findings.sarif")

    assert ended.returncode == 2
    assert "broken.yaml:" in ended.stderr
    (findings,) = json.loads((workspace / "findings.sarif").read_text())["runs"]
    assert {each["level"] for each in findings["results"]} == {"error"}


@pytest.mark.parametrize(("strict", "code"), [("true", 2), ("false", 0)])
def test_warnings_fail_the_action_where_it_is_strict(workspace: Path, strict: str, code: int) -> None:
    assert run(workspace, files="doubtful.yaml", strict=strict).returncode == code


def test_action_fails_where_no_file_matches(workspace: Path) -> None:
    ended = run(workspace, files="missing/*.yaml")

    assert (ended.returncode, ended.stderr) == (2, "no file matches: missing/*.yaml\n")


def test_inputs_reach_the_script_through_its_environment_alone() -> None:
    """Text of an input that stood in the script would be run."""
    assert "${{" not in SCRIPT["run"]
