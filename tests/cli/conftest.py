from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.builders import node_object, pod_object
from tests.cli.commands import descheduler, restored_logging
from tests.integration.api_fixtures import fake_api, kubeconfig
from tests.report.decided_cycles import pod_life_time_policy

__all__ = ["descheduler", "fake_api", "kubeconfig", "restored_logging"]


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """A policy that evicts pods after a minute."""
    file = tmp_path / "policy.yaml"
    file.write_text(yaml.safe_dump(pod_life_time_policy()))
    return file


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A dump of two nodes with two old pods, one of them without an owner."""
    objects = [node_object("a"), node_object("b"), pod_object("old", cpu="500m"), pod_object("bare", owners=())]
    file = tmp_path / "dump.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return file
