"""The packages of the page about own plugins do what it says, installed beside the program."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from descheduler import plugin_api
from tests.builders import Object, node_object, pod_object
from tests.docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "how-to" / "own-plugins.md"
POLICY, SCHEDULER = blocks(PAGE, "yaml")
NOW = "2026-01-02T00:00:00Z"
MODULES = "remove_expired_pods", "acme_license"
RECIPE = "test_remove_expired_pods"


def install(folder: Path, *, code: str | None = None, name: str | None = None) -> None:
    """Puts the package of the page into `folder` as pip would; `code` and `name` stand for its code and its name."""
    project = tomllib.loads(blocks(PAGE, "toml")[0])["project"]
    package = name or project["name"]
    modules = dict(zip((*MODULES, RECIPE), blocks(PAGE, "python"), strict=True))
    (folder / "acme_plugins").mkdir(exist_ok=True)
    for module, text in modules.items():
        (folder / "acme_plugins" / f"{module}.py").write_text(text if code is None else code)
    metadata = folder / f"{package.replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {project['version']}\n")
    groups = project["entry-points"]
    lines = [f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in groups[group].items()) for group in groups]
    (metadata / "entry_points.txt").write_text("\n".join(lines))


def descheduler(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(folder), str(ROOT)))
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, "-m", "descheduler", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)


def policy_file(folder: Path, *, scheduler: bool) -> Path:
    policy = yaml.safe_load(POLICY)
    if scheduler:
        (folder / "scheduler.yaml").write_text(SCHEDULER)
        args = {"schedulerConfigFile": str(folder / "scheduler.yaml")}
        policy["profiles"][0]["pluginConfig"][1]["args"] = args
    file = folder / "policy.yaml"
    file.write_text(yaml.safe_dump(policy))
    return file


def dump(folder: Path, instead_of_licensed: Object | None = None) -> Path:
    """A pod that has expired and is licensed, on a node that is cordoned; only another node has a license."""
    labels = {"acme.example/expires": "2026-01-01", "acme.example/licensed": "yes"}
    objects = [
        node_object("old", unschedulable=True),
        node_object("plain"),
        instead_of_licensed or node_object("licensed", labels={"acme.example/licensed": "yes"}),
        pod_object("over", node="old", labels=labels),
        pod_object("young", node="old", labels={"acme.example/expires": "2026-03-01"}),
    ]
    file = folder / "dump.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return file


def plan(folder: Path, *, scheduler: bool, instead_of_licensed: Object | None = None) -> dict[str, Any]:
    snapshot = str(dump(folder, instead_of_licensed))
    arguments = ["--policy-config-file", str(policy_file(folder, scheduler=scheduler)), "--snapshot", snapshot]
    ended = descheduler(folder, "run", *arguments, "--now", NOW, "-o", "json")
    assert ended.returncode == 0, ended.stderr
    result: dict[str, Any] = json.loads(ended.stdout)
    return result


@pytest.mark.long
def test_a_plugin_of_a_package_evicts_through_the_evictor(tmp_path: Path) -> None:
    install(tmp_path)

    moves = plan(tmp_path, scheduler=False)["moves"]

    assert [(move["pod"]["name"], move["plugin"], move["reason"]) for move in moves] == [
        ("over", "RemoveExpiredPods", "expired on 2026-01-01")
    ]


@pytest.mark.parametrize("module", MODULES)
def test_plugins_import_the_public_face_alone(module: str) -> None:
    code = ast.parse(dict(zip(MODULES, blocks(PAGE, "python"), strict=False))[module])
    imported = {node.module for node in ast.walk(code) if isinstance(node, ast.ImportFrom) and node.module}

    assert {name for name in imported if name.startswith("descheduler")} == {"descheduler.plugin_api"}


def test_each_name_of_the_public_face_is_explained_where_it_is_defined() -> None:
    offered = {name: getattr(plugin_api, name) for name in plugin_api.__all__}

    assert [name for name, each in offered.items() if callable(each) and not (each.__doc__ or "").strip()] == []


@pytest.mark.long
def test_the_recipe_for_tests_is_a_test_that_passes(tmp_path: Path) -> None:
    install(tmp_path)
    path = os.pathsep.join((str(tmp_path), str(ROOT)))
    recipe = tmp_path / "acme_plugins" / f"{RECIPE}.py"

    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(recipe)]
    environment = {**os.environ, "PYTHONPATH": path}
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)

    assert (ended.returncode, "1 passed" in ended.stdout) == (0, True), ended.stdout


@pytest.mark.long
def test_a_scheduling_plugin_of_a_package_says_where_the_replacement_lands(tmp_path: Path) -> None:
    install(tmp_path)

    (move,) = plan(tmp_path, scheduler=True)["moves"]

    assert move["to"] == "licensed"


@pytest.mark.long
def test_explain_tells_of_the_plugin_what_its_package_says(tmp_path: Path) -> None:
    install(tmp_path)
    file = policy_file(tmp_path, scheduler=False)

    ended = descheduler(tmp_path, "explain", "plugin", "RemoveExpiredPods", "--policy-config-file", str(file))

    assert "Evicts pods whose label says that their time is over" in ended.stdout
    assert "The label that holds the date" in ended.stdout


def test_a_package_is_not_imported_for_policies_that_do_not_name_it(tmp_path: Path) -> None:
    install(tmp_path, code="raise SystemExit('imported')")

    ended = descheduler(tmp_path, "validate", str(ROOT / "config" / "policy.yaml"))

    assert ended.returncode == 0
    assert "imported" not in ended.stdout + ended.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("code", "fault"),
    [
        pytest.param("import nothing_there", "ModuleNotFoundError: No module named 'nothing_there'", id="an import"),
        pytest.param(
            "REMOVE_EXPIRED_PODS = 1",
            ":REMOVE_EXPIRED_PODS is no PluginSpec",
            id="a number",
        ),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_a_problem_of_the_policy(tmp_path: Path, code: str, fault: str) -> None:
    install(tmp_path, code=code)
    file = policy_file(tmp_path, scheduler=False)

    ended = descheduler(tmp_path, "validate", str(file))

    assert ended.returncode == 2
    assert "package acme-plugins 1.0 offers it, and it cannot be loaded: " in ended.stdout + ended.stderr
    assert fault in ended.stdout + ended.stderr
    assert "policy.yaml:" in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr


def test_two_packages_that_offer_one_plugin_are_a_problem(tmp_path: Path) -> None:
    install(tmp_path)
    install(tmp_path, name="other-plugins")

    ended = descheduler(tmp_path, "validate", str(policy_file(tmp_path, scheduler=False)))

    assert "packages acme-plugins 1.0 and other-plugins 1.0 both offer it" in ended.stdout + ended.stderr
