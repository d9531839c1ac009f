"""`descheduler plan --out` and `descheduler apply` against the fake API server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from descheduler.report.published_schema import published_schema
from tests.builders import Object, node_object, pod_object
from tests.integration.fake_api import FakeApi
from tests.integration.faults import Answer
from tests.integration.live_processes import Cli, cli
from tests.integration.live_runs import budget_object, crowded_cluster, eviction_requests, serve

__all__ = ["cli"]

KUBE_SYSTEM = "/api/v1/namespaces/kube-system"
NODES = "/api/v1/nodes"
PODS = "/api/v1/pods"


def identified(fake_api: FakeApi, uid: str) -> None:
    """Has the cluster be the one with this UID."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": uid}}
    fake_api.fail_always("GET", KUBE_SYSTEM, Answer(200, namespace))


@pytest.fixture
def file(fake_api: FakeApi, cli: Cli, tmp_path: Path) -> Path:
    """The plan to evict the pods cart and desk."""
    serve(fake_api, *crowded_cluster("cart", "desk", cpu="500m"))
    identified(fake_api, "this-cluster")
    path = tmp_path / "plan.json"
    code, _, err = cli.run("--out", str(path), command="plan")
    assert (code, eviction_requests(fake_api)) == (0, []), err
    return path


def test_a_plan_that_makes_room_is_shown_of_a_cluster(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("cart", cpu="500m"))

    code, out, err = cli.run("--for", "cpu=1", command="plan")

    assert (code, eviction_requests(fake_api)) == (0, []), err
    assert "1 pod pending" in out


def changed(path: Path, change: Callable[[Any], None]) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def named(fake_api: FakeApi, path: str, name: str) -> Object:
    return next(each for each in fake_api.objects[path] if each["metadata"]["name"] == name)


def refusal(fake_api: FakeApi, cli: Cli, file: Path, *flags: str) -> str:
    """What `apply` says, which evicts nothing and ends with exit code 1."""
    code, out, err = cli.run(str(file), *flags, command="apply")
    assert (code, out, eviction_requests(fake_api)) == (1, "", []), err
    assert "the plan is not applied, nothing was evicted" in err
    assert "\nmake a new plan with 'descheduler plan --out'" in err
    return err


def test_plan_file_is_whole_and_as_its_schema_says(file: Path) -> None:
    content = json.loads(file.read_text())

    jsonschema.validate(content, json.loads(published_schema("plan-file")))
    assert content["apiVersion"] == "descheduler.plan/v1"
    assert content["cluster"]["uid"] == "this-cluster"
    assert [move["pod"]["uid"] for move in content["plan"]["moves"]] == [basis["uid"] for basis in content["bases"]]
    assert {basis["source"]["name"] for basis in content["bases"]} == {"tainted"}
    assert {basis["target"]["name"] for basis in content["bases"]} == {"free"}


def test_plan_is_carried_out(fake_api: FakeApi, cli: Cli, file: Path) -> None:
    code, out, _ = cli.run(str(file), "-o", "json", command="apply")

    outcome = json.loads(out)
    jsonschema.validate(outcome, json.loads(published_schema("outcome")))
    assert (code, fake_api.pods()) == (0, [])
    assert [result["pod"]["name"] for result in outcome["results"]] == ["cart", "desk"]


def test_dry_run_checks_the_plan_and_writes_nothing(fake_api: FakeApi, cli: Cli, file: Path) -> None:
    code, out, err = cli.run(str(file), "--dry-run", "-o", "json", command="apply")

    assert code == 0, err
    assert [move["pod"]["name"] for move in json.loads(out)["moves"]] == ["cart", "desk"]
    assert {request.method for request in fake_api.requests} == {"GET"}


def test_dry_run_of_a_plan_that_changed_is_refused(fake_api: FakeApi, cli: Cli, file: Path) -> None:
    fake_api.objects[PODS].remove(named(fake_api, PODS, "cart"))

    assert "pod default/cart: is gone" in refusal(fake_api, cli, file, "--dry-run")


def test_dry_run_shows_what_is_left_of_a_plan(fake_api: FakeApi, cli: Cli, file: Path) -> None:
    fake_api.objects[PODS].remove(named(fake_api, PODS, "cart"))

    code, out, err = cli.run(str(file), "--dry-run", "--allow-partial", "-o", "name", command="apply")

    assert (code, out, eviction_requests(fake_api)) == (0, "default/desk\n", []), err


def test_only_the_pods_of_the_plan_are_evicted(fake_api: FakeApi, cli: Cli, file: Path) -> None:
    fake_api.add(PODS, pod_object("late", node="tainted"))

    cli.run(str(file), command="apply")

    assert fake_api.pods() == ["late"]


def test_plan_of_another_cluster_is_refused(fake_api: FakeApi, cli: Cli, file: Path) -> None:
    identified(fake_api, "another-cluster")

    assert "another cluster: planned on" in refusal(fake_api, cli, file)


def test_plan_of_another_policy_is_refused(fake_api: FakeApi, cli: Cli, file: Path) -> None:
    cli.policy.write_text(cli.policy.read_text() + "maxNoOfPodsToEvictTotal: 1\n")

    assert "another policy: planned with digest" in refusal(fake_api, cli, file, "--allow-partial")


def test_old_plan_is_refused(fake_api: FakeApi, cli: Cli, file: Path) -> None:
    assert "(--max-age: 0 s)" in refusal(fake_api, cli, file, "--max-age", "1ms")


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(lambda api: api.objects[PODS].remove(named(api, PODS, "cart")), "is gone", id="pod gone"),
        pytest.param(
            lambda api: named(api, PODS, "cart")["metadata"].update(uid="other"), "is gone", id="pod replaced"
        ),
        pytest.param(
            lambda api: named(api, PODS, "cart")["spec"].update(nodeName="free"),
            "is on node free, was on tainted",
            id="pod moved",
        ),
    ],
)
def test_changed_pod_refuses_the_plan_or_is_left_out(
    fake_api: FakeApi, cli: Cli, file: Path, change: Callable[[FakeApi], None], said: str
) -> None:
    change(fake_api)

    assert f"pod default/cart: {said}" in refusal(fake_api, cli, file)

    code, out, err = cli.run(str(file), "--allow-partial", "-o", "json", command="apply")
    outcome = json.loads(out)
    assert code == 0, err
    assert [result["pod"]["name"] for result in outcome["results"]] == ["desk"]
    assert any(said in warning for warning in outcome["plan"]["warnings"])


@pytest.mark.parametrize(
    ("is_changed", "flags", "expected"),
    [
        pytest.param(True, ("--detailed-exitcode",), 3, id="with a move left out it is incomplete"),
        pytest.param(True, (), 0, id="which only details tell"),
        pytest.param(False, ("--detailed-exitcode",), 0, id="with all moves made it is done"),
    ],
)
def test_exit_code_of_a_plan_that_may_be_applied_in_part(
    fake_api: FakeApi, cli: Cli, file: Path, is_changed: bool, flags: tuple[str, ...], expected: int
) -> None:
    if is_changed:
        fake_api.objects[PODS].remove(named(fake_api, PODS, "cart"))

    code, _, err = cli.run(str(file), "--allow-partial", *flags, command="apply")

    assert code == expected, err


@pytest.mark.parametrize(
    ("node", "change", "said"),
    [
        pytest.param("free", {"unschedulable": True}, "node free is now cordoned", id="target cordoned"),
        pytest.param("free", {"taints": [{"key": "a", "effect": "NoSchedule"}]}, "other taints", id="target tainted"),
        pytest.param("tainted", {"unschedulable": True}, "node tainted is now cordoned", id="source cordoned"),
    ],
)
def test_changed_node_refuses_the_plan(
    fake_api: FakeApi, cli: Cli, file: Path, node: str, change: dict[str, Any], said: str
) -> None:
    named(fake_api, NODES, node)["spec"].update(change)

    assert said in refusal(fake_api, cli, file)
    refusal(fake_api, cli, file, "--allow-partial")


def test_room_that_was_taken_refuses_the_plan(fake_api: FakeApi, cli: Cli, file: Path) -> None:
    fake_api.add(PODS, pod_object("rival", node="free", cpu="1000"))

    assert "its replacement can no longer be scheduled" in refusal(fake_api, cli, file)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b'{"apiVersion": "descheduler.plan/v1", "kind": "PlanFi', id="cut short"),
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param(b'"\xff\xfe"', id="not UTF-8"),
        pytest.param(b'{"apiVersion": "descheduler.plan/v1", "kind": "PlanFile", "\\u001b[2J": 1}', id="escapes"),
        pytest.param(b'{"apiVersion": "descheduler.plan/v9\\u001b[2J", "kind": "PlanFile"}', id="another version"),
        pytest.param(b'{"kind": "Plan"}', id="the document of a dry run"),
        pytest.param(b'{"kind": 5, "plan": []}', id="wrong types"),
    ],
)
def test_hostile_plan_file_is_one_message_and_exit_code_2(
    fake_api: FakeApi, cli: Cli, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "hostile.json"
    path.write_bytes(content)

    code, out, err = cli.run(str(path), command="apply")

    assert (code, out, fake_api.requests) == (2, "", [])
    assert len(err.splitlines()) == 1
    assert "hostile.json: " in err
    assert "\x1b" not in err


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda content: content["bases"].pop(), id="a basis is missing"),
        pytest.param(lambda content: content["plan"]["moves"].append(content["plan"]["moves"][0]), id="twice"),
        pytest.param(lambda content: content["plan"].update(now=7), id="time of another type"),
    ],
)
def test_changed_plan_file_is_one_message_and_exit_code_2(
    fake_api: FakeApi, cli: Cli, file: Path, change: Callable[[Any], None]
) -> None:
    changed(file, change)

    code, _, err = cli.run(str(file), command="apply")

    assert (code, eviction_requests(fake_api)) == (2, [])
    assert "Traceback" not in err


def test_budget_that_is_used_up_refuses_the_plan(fake_api: FakeApi, cli: Cli, tmp_path: Path) -> None:
    budget = budget_object("shop", {"app": "shop"}, allowed=2)
    serve(fake_api, *crowded_cluster("cart", "desk", labels={"app": "shop"}), budget)
    path = tmp_path / "plan.json"
    cli.run("--out", str(path), command="plan")
    budget["status"]["disruptionsAllowed"] = 1

    assert "pod default/desk: " in refusal(fake_api, cli, path)

    code, _, err = cli.run(str(path), "--allow-partial", command="apply")
    assert (code, fake_api.pods()) == (0, ["desk"]), err


def test_plan_without_an_identity_is_known_by_its_pods(fake_api: FakeApi, cli: Cli, tmp_path: Path) -> None:
    serve(fake_api, *crowded_cluster("cart"))
    path = tmp_path / "plan.json"
    cli.run("--out", str(path), command="plan")

    assert json.loads(path.read_text())["cluster"]["uid"] == ""
    assert cli.run(str(path), command="apply")[0] == 0
    assert "pod default/cart: is gone" in cli.run(str(path), command="apply")[2]


def test_plan_file_that_cannot_be_written_is_one_message(fake_api: FakeApi, cli: Cli, tmp_path: Path) -> None:
    serve(fake_api, *crowded_cluster("cart"))

    code, _, err = cli.run("--out", str(tmp_path / "nowhere" / "plan.json"), command="plan")

    assert code == 1
    assert "cannot be written: no such file or directory" in err


OWNER = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "metadata": {"name": "web", "namespace": "default", "uid": "replicaset-web"},
    "spec": {"replicas": 1},
}
CORDONING = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: p
  pluginConfig:
  - {name: MigrationPlanner, args: {objectives: [{drainNodes: {nodes: [old], cordon: true}}]}}
  plugins: {balance: {enabled: [MigrationPlanner]}}
"""


@pytest.fixture
def cordoning(fake_api: FakeApi, cli: Cli, tmp_path: Path) -> Path:
    """The plan of a policy that cordons the node old and drains it."""
    serve(fake_api, node_object("old"), node_object("new"), pod_object("cart", node="old", cpu="500m"), OWNER)
    identified(fake_api, "this-cluster")
    cli.policy.write_text(CORDONING)
    path = tmp_path / "plan.json"
    code, _, err = cli.run("--out", str(path), command="plan")
    assert code == 0, err
    return path


@pytest.mark.parametrize("is_cordoned", [pytest.param(False, id="open"), pytest.param(True, id="cordoned since")])
def test_cordon_of_the_run_itself_is_no_change_of_the_node(
    fake_api: FakeApi, cli: Cli, cordoning: Path, is_cordoned: bool
) -> None:
    """The node controller gives a cordoned node a taint."""
    taints = [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}] if is_cordoned else []
    named(fake_api, NODES, "old")["spec"].update(unschedulable=is_cordoned, taints=taints)

    code, out, err = cli.run(str(cordoning), "--dry-run", "-o", "name", command="apply")

    assert (code, out) == (0, "default/cart\n"), err


def test_cordon_of_another_node_than_the_run_cordons_refuses_the_plan(
    fake_api: FakeApi, cli: Cli, cordoning: Path
) -> None:
    named(fake_api, NODES, "new")["spec"].update(unschedulable=True)

    assert "node new is now cordoned" in refusal(fake_api, cli, cordoning)


def test_plan_file_has_the_nodes_without_the_cordons_of_the_run(cordoning: Path) -> None:
    (basis,) = json.loads(cordoning.read_text())["bases"]

    assert (basis["source"]["name"], basis["source"]["cordoned"]) == ("old", False)
