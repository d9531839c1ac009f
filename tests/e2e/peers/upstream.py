"""The upstream descheduler, run once on a control plane."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.e2e.control_plane import ControlPlane


def run_once(plane: ControlPlane, policy: Mapping[str, Any], *, dry_run: bool = False) -> str:
    """The log of one run with a DeschedulerPolicy; raises RuntimeError with it when the run fails."""
    file = plane.folder / "upstream-policy.json"
    file.write_text(json.dumps(policy, indent=2))
    done = plane.run_tool(
        "descheduler",
        f"--policy-config-file={file}",
        f"--client-connection-kubeconfig={plane.kubeconfig}",
        "--secure-port=0",
        "--disable-metrics=true",
        "--v=3",
        *(["--dry-run=true"] if dry_run else []),
    )
    if done.returncode != 0:
        raise RuntimeError(f"the upstream descheduler ended with {done.returncode}: {done.stderr[-4000:]}")
    return done.stdout + done.stderr
