"""`descheduler status` against the fake API server."""

from __future__ import annotations

import json

import jsonschema

from descheduler.report.published_schema import published_schema
from tests.integration.fake_api import FakeApi
from tests.integration.fake_objects import CONFIG_MAPS
from tests.integration.faults import failure
from tests.integration.live_processes import Cli, cli
from tests.integration.live_runs import crowded_cluster, serve

__all__ = ["cli"]

LEASE = ("--lease-name", "d", "--lease-namespace", "kube-system")


def test_status_shows_what_the_last_run_did(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("cart"))
    cli.run(*LEASE)

    code, out, _ = cli.run(*LEASE, "-o", "json", command="status")

    status = json.loads(out)
    jsonschema.validate(status, json.loads(published_schema("status")))
    assert code == 0
    assert [run["counts"]["evicted"] for run in status["runs"]] == [1]


def test_status_is_a_table_by_default(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("cart"))
    cli.run(*LEASE)

    _, out, _ = cli.run(*LEASE, command="status")

    assert "Last runs" in out
    assert "RemovePodsViolatingNodeTaints 1" in out


def test_no_status_is_said(fake_api: FakeApi, cli: Cli) -> None:
    code, _, err = cli.run(*LEASE, command="status")

    assert code == 1
    assert "no run has left a status: ConfigMap kube-system/d-status does not exist or holds none" in err


def test_missing_right_to_read_it_is_said(fake_api: FakeApi, cli: Cli) -> None:
    fake_api.fail_always("GET", f"{CONFIG_MAPS}/d-status", failure(403, "Forbidden", "no"))

    code, _, err = cli.run(*LEASE, command="status")

    assert code == 1
    assert "not allowed to get ConfigMap kube-system/d-status (RBAC)" in err
    assert "Traceback" not in err


def test_status_of_another_kind_is_one_message(fake_api: FakeApi, cli: Cli) -> None:
    fake_api.config_maps.put("d-status", data={"status.json": '{"runs": 5}'})

    code, _, err = cli.run(*LEASE, command="status")

    assert code == 1
    assert "ConfigMap kube-system/d-status is not a status of version descheduler.status/v1" in err
