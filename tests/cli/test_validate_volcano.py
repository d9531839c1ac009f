"""`validate` with the configuration of Volcano."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tests.cli.commands import Descheduler

VOLCANO = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: volcano-scheduler-configmap
data:
  volcano-scheduler.conf: |
    actions: "enqueue, allocate, backfill"
    tiers:
    - plugins:
      - name: priority
      - name: gang
"""


def test_the_configuration_of_volcano_is_valid_in_its_config_map(descheduler: Descheduler, tmp_path: Path) -> None:
    file = tmp_path / "volcano.yaml"
    file.write_text(VOLCANO)

    ended = descheduler("validate", file)

    assert (ended.code, ended.out, ended.err) == (0, f"{file}: valid volcano-scheduler.conf\n", "")


@pytest.mark.parametrize("ending", [".conf", ".yaml"])
def test_the_configuration_of_volcano_is_valid_by_itself(descheduler: Descheduler, tmp_path: Path, ending: str) -> None:
    """Without apiVersion it could pass for a DeschedulerPolicy all of which is ignored."""
    file = tmp_path / f"volcano-scheduler{ending}"
    file.write_text(dedent(VOLCANO.partition("conf: |\n")[2]))

    ended = descheduler("validate", file)

    assert (ended.code, ended.out, ended.err) == (0, f"{file}: valid volcano-scheduler.conf\n", "")


def test_a_problem_of_volcano_is_named_with_its_place(descheduler: Descheduler, tmp_path: Path) -> None:
    file = tmp_path / "volcano.yaml"
    file.write_text(VOLCANO.replace("allocate", "alocate"))

    ended = descheduler("validate", file)

    listed = "enqueue, allocate, backfill, preempt, reclaim, shuffle; did you mean 'allocate'?"
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"{file}:7:14: actions: 'alocate' is not an action of Volcano: {listed}\n"


def test_a_plugin_of_volcano_that_is_not_modelled_fails_strict_validation(
    descheduler: Descheduler, tmp_path: Path
) -> None:
    file = tmp_path / "volcano.yaml"
    file.write_text(VOLCANO.replace("gang", "usage"))

    ended = descheduler("validate", "--strict", file)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.endswith("plugin 'usage' is not modelled; what it decides is unknown\n")
