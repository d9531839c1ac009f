"""Pods on devices with a taint of effect NoExecute, in a live run: reported, and left to kube-controller-manager."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.fake_api import FakeApi
from tests.integration.live_processes import Cli, cli
from tests.integration.live_runs import eviction_requests, serve
from tests.strategies.tainted_devices import taint, world

__all__ = ["cli"]

PROFILE = Path("config/profiles/dra.yaml")


@pytest.mark.parametrize("output", ["table", "json"])
def test_pod_that_kube_controller_manager_deletes_is_named_and_not_evicted(
    fake_api: FakeApi, cli: Cli, output: str
) -> None:
    serve(fake_api, *(each for each in world(taint("NoExecute")) if not each["kind"].endswith("List")))
    cli.policy.write_text(PROFILE.read_text())

    code, out, err = cli.run("-o", output)

    assert (code, eviction_requests(fake_api)) == (0, []), err
    if output == "json":
        (kept,) = json.loads(out)["plan"]["refusals"]
        assert (kept["pod"]["name"], kept["code"]) == ("p", "NoExecute")
    else:
        rows = [line.split() for line in out.splitlines()]
        assert ["default", "p", "a", "RemovePodsViolatingDeviceTaints"] in [row[:4] for row in rows]
        assert "kube-controller-manager deletes pods for NoExecute" in out
