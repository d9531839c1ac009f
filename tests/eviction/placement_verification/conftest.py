"""Schedulers of several profiles."""

from __future__ import annotations

from pathlib import Path

import pytest

_BLIND_TO_TAINTS = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    filter: {disabled: [{name: TaintToleration}]}
    score: {disabled: [{name: TaintToleration}]}
"""


@pytest.fixture
def blind(tmp_path: Path) -> Path:
    """The file of a scheduler that looks at no taints."""
    file = tmp_path / "blind.yaml"
    file.write_text(_BLIND_TO_TAINTS)
    return file
