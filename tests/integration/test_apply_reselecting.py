"""`descheduler apply` asks the plugins of the policy again whether they select the pods of the plan."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.builders import pod_object
from tests.integration.fake_api import FakeApi
from tests.integration.live_processes import Cli, cli
from tests.integration.live_runs import crowded_cluster, eviction_requests, serve, taint_policy
from tests.policy.builders import upstream

__all__ = ["cli"]

PODS = "/api/v1/pods"
TAINTS = "RemovePodsViolatingNodeTaints"
NOT_SELECTED = f"pod default/cart: is not selected by {TAINTS} any more"
TOLERATION = {"key": "gone", "operator": "Exists"}
PLANNER = upstream(
    "profiles:\n"
    "- name: p\n"
    "  pluginConfig:\n"
    "  - name: MigrationPlanner\n"
    "    args: {objectives: [{repairViolations: {strategies: [RemovePodsViolatingNodeTaints]}}], workLimit: 1}\n"
    "  - {name: RemovePodsViolatingNodeTaints}\n"
    "  plugins: {balance: {enabled: [MigrationPlanner]}}\n"
)
"""A policy with a plugin that searches, which moves what stands on tainted nodes."""
OWNER = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "metadata": {"name": "web", "namespace": "default", "uid": "replicaset-web"},
    "spec": {"replicas": 2},
}
"""What creates the replacements of both pods."""


def planned(fake_api: FakeApi, cli: Cli, path: Path) -> Path:
    """The plan to evict the pods cart and desk."""
    serve(fake_api, *crowded_cluster("cart", "desk", cpu="500m"), OWNER)
    code, _, err = cli.run("--out", str(path), command="plan")
    assert (code, eviction_requests(fake_api)) == (0, []), err
    return path


@pytest.fixture
def file(fake_api: FakeApi, cli: Cli, tmp_path: Path) -> Path:
    """The plan of a plugin that does not search."""
    return planned(fake_api, cli, tmp_path / "plan.json")


@pytest.fixture
def searched(fake_api: FakeApi, cli: Cli, tmp_path: Path) -> Path:
    """The plan of one that does."""
    cli.policy.write_text(PLANNER)
    return planned(fake_api, cli, tmp_path / "plan.json")


def named(fake_api: FakeApi, name: str) -> Any:
    return next(each for each in fake_api.objects[PODS] if each["metadata"]["name"] == name)


def relabel(fake_api: FakeApi) -> None:
    named(fake_api, "cart")["metadata"].setdefault("labels", {})["app"] = "another"


def tolerate(fake_api: FakeApi) -> None:
    named(fake_api, "cart")["spec"]["tolerations"] = [TOLERATION]


def add_to_plan(file: Path, pod: str, **change: object) -> None:
    """Writes the move of `cart` once more, for another pod of its node."""
    content = json.loads(file.read_text())
    move, basis = content["plan"]["moves"][0], content["bases"][0]
    reference = {"namespace": "default", "name": pod, "uid": f"default-{pod}"}
    content["plan"]["moves"].append({**move, "pod": reference, **change})
    content["bases"].append({**basis, "uid": reference["uid"]})
    file.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(relabel, "pod default/cart: has other labels", id="other labels"),
        pytest.param(tolerate, NOT_SELECTED, id="the plugin does not select it"),
    ],
)
def test_pod_that_is_not_selected_any_more_refuses_the_plan_or_is_left_out(
    fake_api: FakeApi, cli: Cli, file: Path, change: Callable[[FakeApi], None], said: str
) -> None:
    change(fake_api)

    code, out, err = cli.run(str(file), command="apply")
    assert (code, out, eviction_requests(fake_api)) == (1, "", []), err
    assert said in err

    code, out, err = cli.run(str(file), "--allow-partial", "--detailed-exitcode", "-o", "json", command="apply")
    outcome = json.loads(out)
    assert (code, fake_api.pods()) == (3, ["cart"]), err
    assert [result["pod"]["name"] for result in outcome["results"]] == ["desk"]
    assert any(said in warning for warning in outcome["plan"]["warnings"])


def test_pod_that_its_plugin_does_not_select_has_a_code_in_the_outcome(fake_api: FakeApi, cli: Cli, file: Path) -> None:
    tolerate(fake_api)

    _, out, _ = cli.run(str(file), "--allow-partial", "-o", "json", command="apply")

    refusals = json.loads(out)["plan"]["refusals"]
    assert [(each["pod"]["name"], each["code"]) for each in refusals] == [("cart", "NotSelected")]


@pytest.mark.parametrize("change", [relabel, tolerate])
def test_it_is_evicted_where_plugins_are_not_asked_again(
    fake_api: FakeApi, cli: Cli, file: Path, change: Callable[[FakeApi], None]
) -> None:
    change(fake_api)

    code, _, err = cli.run(str(file), "--no-reselect", command="apply")

    assert (code, fake_api.pods()) == (0, []), err


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({}, f"is not selected by {TAINTS} any more", id="the plugin of the others"),
        pytest.param({"plugin": "PodLifeTime"}, "the policy has no plugin PodLifeTime in profile p", id="another"),
        pytest.param({"profile": "q"}, f"the policy has no plugin {TAINTS} in profile q", id="no profile"),
    ],
)
def test_pod_that_somebody_added_to_the_file_is_not_evicted(
    fake_api: FakeApi, cli: Cli, file: Path, change: dict[str, object], said: str
) -> None:
    fake_api.add(PODS, pod_object("calm", node="tainted", cpu="500m", tolerations=[TOLERATION]))
    add_to_plan(file, "calm", **change)

    code, out, err = cli.run(str(file), command="apply")

    assert (code, out, eviction_requests(fake_api)) == (1, "", []), err
    assert f"pod default/calm: {said}" in err

    code, _, err = cli.run(str(file), "--allow-partial", command="apply")

    assert (code, fake_api.pods()) == (0, ["calm"]), err


@pytest.mark.parametrize("flags", [(), ("--no-reselect",)])
def test_pod_whose_move_has_the_name_of_another_is_not_evicted(
    fake_api: FakeApi, cli: Cli, file: Path, flags: tuple[str, ...]
) -> None:
    """Whoever has looked through the file has seen the name; the pod is found by the UID."""
    fake_api.add(PODS, pod_object("calm", node="tainted", cpu="500m"))
    content = json.loads(file.read_text())
    content["plan"]["moves"][0]["pod"]["uid"] = content["bases"][0]["uid"] = "default-calm"
    file.write_text(json.dumps(content))

    code, out, err = cli.run(str(file), *flags, command="apply")

    assert (code, out, eviction_requests(fake_api)) == (1, "", []), err
    assert "pod default/cart: has the UID of pod default/calm; the file was changed" in err

    code, _, err = cli.run(str(file), *flags, "--allow-partial", command="apply")

    assert (code, sorted(fake_api.pods())) == (0, ["calm", "cart"]), err


def test_room_for_a_pod_that_has_the_name_of_another_is_not_made(fake_api: FakeApi, cli: Cli, file: Path) -> None:
    fake_api.add(PODS, pod_object("late", phase="Pending"))
    content = json.loads(file.read_text())
    reference = {"namespace": "default", "name": "waits", "uid": "default-late"}
    content["plan"]["moves"][0]["roomFor"] = [{"pod": reference, "node": "free"}]
    file.write_text(json.dumps(content))

    code, out, err = cli.run(str(file), "--no-reselect", command="apply")

    assert (code, out, eviction_requests(fake_api)) == (1, "", []), err
    assert "pod default/waits, for which it makes room, has the UID of pod default/late; the file was changed" in err


def test_long_reason_of_a_file_is_cut_short_where_it_is_told(fake_api: FakeApi, cli: Cli, file: Path) -> None:
    content = json.loads(file.read_text())
    content["plan"]["moves"][0]["reason"] = "because\x1b[2J\n" + "x" * 100_000
    file.write_text(json.dumps(content))

    code, out, err = cli.run(str(file), "-o", "json", command="apply")

    assert (code, fake_api.pods()) == (0, []), err
    (told,) = [result["reason"] for result in json.loads(out)["results"] if result["pod"]["name"] == "cart"]
    assert len(told) < 2000
    assert len(max(err.splitlines(), key=len)) < 3000
    assert "\x1b" not in out + err


def test_pod_that_came_since_takes_no_turn_of_the_plan(fake_api: FakeApi, cli: Cli, tmp_path: Path) -> None:
    cli.policy.write_text(taint_policy("maxNoOfPodsToEvictTotal: 2"))
    file = planned(fake_api, cli, tmp_path / "plan.json")
    fake_api.objects[PODS].insert(0, pod_object("before", node="tainted", cpu="500m"))

    code, _, err = cli.run(str(file), command="apply")

    assert (code, fake_api.pods()) == (0, ["before"]), err


def test_plan_for_some_namespaces_is_applied_whole(fake_api: FakeApi, cli: Cli, tmp_path: Path) -> None:
    cli.policy.write_text(taint_policy("maxNoOfPodsToEvictTotal: 1"))
    other = pod_object("b", namespace="b", node="tainted", cpu="500m", labels={"app": "b"})
    serve(fake_api, *crowded_cluster("cart", cpu="500m"), other)
    file = tmp_path / "plan.json"
    cli.run("--out", str(file), "-n", "b", command="plan")

    code, _, err = cli.run(str(file), command="apply")

    assert (code, fake_api.pods()) == (0, ["cart"]), err


def test_plan_of_a_plugin_that_searches_is_carried_out(fake_api: FakeApi, cli: Cli, searched: Path) -> None:
    code, _, err = cli.run(str(searched), command="apply")

    assert (code, fake_api.pods()) == (0, []), err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(
            lambda api, file: [each["spec"].update(tolerations=[TOLERATION]) for each in api.objects[PODS]],
            "MigrationPlanner has nothing to do: no pod is selected by RemovePodsViolatingNodeTaints",
            id="nothing is left to do",
        ),
        pytest.param(lambda api, file: relabel(api), "has other labels", id="other labels"),
        pytest.param(
            lambda api, file: add_to_plan(file, "calm"),
            "the moves of MigrationPlanner were changed in the plan file",
            id="another pod in the file",
        ),
    ],
)
def test_plan_of_a_plugin_that_searches_is_refused(
    fake_api: FakeApi, cli: Cli, searched: Path, change: Callable[[FakeApi, Path], None], said: str
) -> None:
    fake_api.add(PODS, pod_object("calm", node="tainted", cpu="500m", tolerations=[TOLERATION]))
    change(fake_api, searched)

    code, out, err = cli.run(str(searched), command="apply")

    assert (code, out, eviction_requests(fake_api)) == (1, "", []), err
    assert f"pod default/cart: {said}" in err
