"""Kubeconfig files for the fake API server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.integration.fake_api import FakeApi


def write_kubeconfig(folder: Path, api: FakeApi, user: dict[str, Any], *, server: str = "", **cluster: Any) -> Path:
    """A kubeconfig for `api` with one user; `server` and `cluster` say otherwise about the cluster."""
    file = api.write_kubeconfig(folder / "kubeconfig")
    document = yaml.safe_load(file.read_text())
    document["users"][0]["user"] = user
    document["clusters"][0]["cluster"] |= {"server": server or api.url, **cluster}
    file.write_text(yaml.safe_dump(document))
    return file
