"""Which runs `descheduler status` is asked about."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import Descheduler


def test_runs_are_named_by_a_policy_or_a_lease(descheduler: Descheduler) -> None:
    ended = descheduler("status")

    assert ended.code == 2
    assert "name a policy with --policy-config-file, or a Lease with --lease-name" in ended.err


@pytest.mark.parametrize("named", [("--lease-name", "d"), ("--config", "policy")], ids=["a Lease", "a policy"])
def test_cluster_that_is_not_there_is_a_failure(
    descheduler: Descheduler, policy: Path, tmp_path: Path, named: tuple[str, str]
) -> None:
    flag, value = named

    ended = descheduler("status", flag, policy if value == "policy" else value, "--kubeconfig", tmp_path / "none")

    assert ended.code == 1
    assert "name a policy" not in ended.err
    assert str(tmp_path / "none") in ended.err


def test_invalid_policy_is_named_before_anything_is_read(descheduler: Descheduler, tmp_path: Path) -> None:
    ended = descheduler("status", "--config", tmp_path / "none.yaml")

    assert ended.code == 2
    assert "none.yaml" in ended.err
