"""Live runs with plugins of packages that fail: the outcome is written whatever they do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.fake_api import FakeApi
from tests.integration.live_runs import crowded_cluster, serve
from tests.packages import descheduler, install_spot, spot_policy


def run(folder: Path, kubeconfig: Path, hook: str, fault: str) -> tuple[int, dict[str, Any]]:
    """Exit code and outcome of a live run of RemoveSpot, and of PodLifeTime after it."""
    install_spot(folder, hook, fault)
    (folder / "policy.yaml").write_text(yaml.safe_dump(spot_policy()))
    ended = descheduler(
        folder, "run", "--config", str(folder / "policy.yaml"), "--kubeconfig", str(kubeconfig), "-o", "json"
    )
    outcome: dict[str, Any] = json.loads(ended.stdout)
    return ended.returncode, outcome


@pytest.mark.long
@pytest.mark.parametrize(
    ("hook", "fault", "message"),
    [
        pytest.param("deschedule", "sys.exit(0)", "SystemExit", id="sys.exit"),
        pytest.param("reason", "return 5", "the reason of an eviction is int, not text", id="a reason that is no text"),
    ],
)
def test_plugin_that_fails_leaves_the_others_and_the_outcome(
    fake_api: FakeApi, kubeconfig: Path, tmp_path: Path, hook: str, fault: str, message: str
) -> None:
    serve(fake_api, *crowded_cluster("cart", "desk"))

    code, outcome = run(tmp_path, kubeconfig, hook, fault)

    (failure,) = outcome["plan"]["failures"]
    assert failure["message"].startswith(
        f"plugin RemoveSpot (package acme-plugins) failed: {message} at acme_plugins/spot.py:"
    )
    assert code == 0
    assert fake_api.pods() == []
    assert {(move["plugin"], move["pod"]["name"]) for move in outcome["plan"]["moves"]} == {
        ("PodLifeTime", "cart"),
        ("PodLifeTime", "desk"),
    }


def test_plugin_that_forgets_the_filters_evicts_no_protected_pod(
    fake_api: FakeApi, kubeconfig: Path, tmp_path: Path
) -> None:
    serve(fake_api, *crowded_cluster("agent", owners=["DaemonSet/agent"]))

    code, outcome = run(tmp_path, kubeconfig, "nothing", "pass")

    assert (code, len(fake_api.pods())) == (0, 1)
    assert {refusal["code"] for refusal in outcome["plan"]["refusals"]} == {"DaemonSet"}
