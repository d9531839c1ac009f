"""`make run PROFILE=…`: each profile shows something on the sample that the Makefile has for it."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cli.commands import Descheduler, descheduler
from tests.cycle.shipped import briefly_searching
from tests.docs.pages import ROOT

__all__ = ["descheduler"]

pytestmark = pytest.mark.long

PROFILES = sorted((ROOT / "config" / "profiles").glob("*.yaml"))
NEED_SEVERAL_RUNS = {
    "low-node-load": "pods are evicted from 3 runs in a row on",
    "node-reservation": "blocked by TooFewObservations",
}
"""Profiles that evict nothing in a first run, and what they say of it."""


@pytest.mark.parametrize("profile", [pytest.param(path, id=path.stem) for path in PROFILES])
def test_make_run_shows_evictions_of_each_profile_or_why_there_are_none(
    descheduler: Descheduler, profile: Path, tmp_path: Path
) -> None:
    policy = tmp_path / profile.name
    policy.write_text(yaml.safe_dump(briefly_searching(profile)))

    ended = descheduler("run", policy, *flags_of_make_run(profile.stem), "-q")

    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    if profile.stem in NEED_SEVERAL_RUNS:
        assert "0 pods would be evicted" in lines
        assert NEED_SEVERAL_RUNS[profile.stem] in ended.out
    else:
        assert any(line.startswith("By plugin:") for line in lines), ended.out


def flags_of_make_run(profile: str) -> list[str]:
    """The dump and the time that `make run` gives."""
    said = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "--old-file=setup", "run", f"PROFILE={profile}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    words = shlex.split(said.splitlines()[-1])
    assert words[1:4] == ["run", "--policy-config-file", f"config/profiles/{profile}.yaml"]
    _, sample, *others = words[4:]
    return ["--snapshot", str(ROOT / sample), *others]
