"""Plugins of packages that fail, whatever it is that they do: the run says which, and ends as any other."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import yaml

from tests.builders import node_object, pod_object
from tests.packages import SCHEDULING, descheduler, install, install_spot, spot_policy
from tests.series import first_of

LICENSE = '''"""AcmeLicense: says what it is told to."""
import sys
import numpy as np
from descheduler.placement.framework.extension_points import PASS, Scores
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin


def fail():
    {fault}


def give(hook, answer):
    return fail() if hook == "{hook}" else answer


class AcmeLicense:
    name = "AcmeLicense"
    is_static = {static}

    def __init__(self, cluster, profile):
        give("factory", None)

    def pre_filter(self, cycle):
        return give("pre_filter", PASS)

    def filter(self, cycle):
        return give("filter", None)

    def obstacle(self, cycle, node, bits):
        return Obstacle(self.name, Code.UNRESOLVABLE, ("no license",))

    def score(self, cycle, feasible):
        return give("score", Scores(np.zeros(len(feasible), dtype=np.int64)))

    def permit(self, cycle, node):
        return give("permit", None)

    def patch(self, cycle, node, takings):
        return give("patch", {{}})


ACME_LICENSE = SchedulingPlugin(
    plugin=AcmeLicense,
    score=AcmeLicense,
    points=frozenset({{"pre_filter", "filter", "permit", "pre_bind", "score"}}),
)
'''


def run(folder: Path, policy: dict[str, Any], *arguments: str) -> CompletedProcess[str]:
    """A dry run over two nodes, one of them cordoned with a pod, and two that are open."""
    (folder / "policy.yaml").write_text(yaml.safe_dump(policy))
    nodes = [node_object("old", unschedulable=True), node_object("b"), node_object("c")]
    dump = {"apiVersion": "v1", "kind": "List", "items": [*nodes, pod_object("web", node="old")]}
    (folder / "dump.json").write_text(json.dumps(dump))
    files = "--policy-config-file", str(folder / "policy.yaml"), "--snapshot", str(folder / "dump.json")
    return descheduler(folder, "run", *files, "--now", "2027-01-02T00:00:00Z", *arguments)


def run_spot(folder: Path, hook: str, fault: str, *arguments: str) -> CompletedProcess[str]:
    install_spot(folder, hook, fault)
    return run(folder, spot_policy(), *arguments)


@pytest.mark.long
@pytest.mark.parametrize("hook", ["factory", "deschedule", "facts"])
def test_plugin_that_ends_the_program_fails_alone(tmp_path: Path, hook: str) -> None:
    ended = run_spot(tmp_path, hook, "sys.exit(0)", "-o", "json")

    plan = json.loads(ended.stdout)
    assert ended.returncode == 1
    assert [failure["message"] for failure in plan["failures"]] == [
        "plugin RemoveSpot (package acme-plugins) failed: SystemExit at acme_plugins/spot.py:14"
    ]
    assert [move["pod"]["name"] for move in plan["moves"] if not move.get("isRepeated")] == ["web"]


@pytest.mark.long
@pytest.mark.parametrize(
    "hook",
    first_of(
        3,
        [
            "validate",
            "warnings",
            "needs",
            "defaults",
            "construction_problems",
            "creates_reservations",
            "samples",
            "without_limits",
            "cordons",
        ],
    ),
)
def test_plugin_that_ends_the_program_while_a_policy_is_read_is_a_problem_of_the_policy(
    tmp_path: Path, hook: str
) -> None:
    ended = run_spot(tmp_path, hook, "sys.exit(0)")

    fault = "plugin RemoveSpot (package acme-plugins) failed: SystemExit at acme_plugins/spot.py:14"
    if hook == "warnings":
        assert (ended.returncode, fault in ended.stdout) == (0, True)
    else:
        assert ended.returncode == 2
        assert fault in ended.stderr


def test_package_that_ends_the_program_when_it_is_imported_is_a_problem_of_the_policy(tmp_path: Path) -> None:
    ended = run_spot(tmp_path, "import", "sys.exit(0)")

    assert ended.returncode == 2
    assert "package acme-plugins 1.0 offers it, and it cannot be loaded: SystemExit: 0" in ended.stderr


@pytest.mark.long
@pytest.mark.parametrize("hook", first_of(2, ["import", "deschedule", "factory", "facts"]))
def test_what_a_plugin_prints_is_not_in_the_document(tmp_path: Path, hook: str) -> None:
    ended = run_spot(tmp_path, hook, 'print("noise", flush=True)', "-o", "json")

    assert json.loads(ended.stdout)["kind"] == "Plan"
    assert "noise" in ended.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    "fault", first_of(1, ["sys.stdout.close()", "sys.stdout = None", "sys.stdout.write(chr(0xd800))"])
)
@pytest.mark.parametrize("hook", ["import", "deschedule"])
def test_plugin_that_harms_its_standard_output_does_not_harm_the_document(
    tmp_path: Path, hook: str, fault: str
) -> None:
    ended = run_spot(tmp_path, hook, fault, "-o", "json")

    assert json.loads(ended.stdout)["kind"] == "Plan"
    assert ended.returncode == 0
    assert "Traceback" not in ended.stderr


@pytest.mark.long
def test_plugin_that_prints_does_not_harm_the_verdict_about_its_policy(tmp_path: Path) -> None:
    install_spot(tmp_path, "validate", 'print("noise")')
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump(spot_policy()))

    ended = descheduler(tmp_path, "validate", "-o", "json", str(tmp_path / "policy.yaml"))

    assert json.loads(ended.stdout)
    assert "noise" in ended.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        pytest.param("import nowhere", "ModuleNotFoundError: No module named 'nowhere'", id="an import"),
        pytest.param("def (", "SyntaxError", id="a syntax error"),
    ],
)
def test_package_that_cannot_be_imported_is_told_with_file_and_line(tmp_path: Path, fault: str, said: str) -> None:
    ended = run_spot(tmp_path, "import", fault)

    assert ended.returncode == 2
    assert said in ended.stderr
    assert " at acme_plugins/spot.py:14" in ended.stderr


@pytest.mark.long
def test_plugin_that_fails_is_named_once_and_its_traceback_logged_at_verbosity_6(tmp_path: Path) -> None:
    quiet = run_spot(tmp_path, "deschedule", "raise KeyError('secret')")
    verbose = run(tmp_path, spot_policy(), "-v", "6")

    assert "Failed: p/RemoveSpot: KeyError at acme_plugins/spot.py:14 (package acme-plugins)" in quiet.stdout
    assert "Traceback" not in quiet.stderr
    assert 'spot.py", line 14, in fail' in verbose.stderr
    assert "KeyError: 'secret'" not in verbose.stderr


def test_plugin_that_raises_an_interrupt_fails_alone(tmp_path: Path) -> None:
    ended = run_spot(tmp_path, "validate", "raise KeyboardInterrupt")

    assert ended.returncode == 2
    assert "failed: KeyboardInterrupt at acme_plugins/spot.py:14" in ended.stderr


def run_license(folder: Path, hook: str, fault: str, *, static: bool = False) -> CompletedProcess[str]:
    """A dry run that verifies landings by a scheduler which runs AcmeLicense."""
    return run_scheduling(folder, LICENSE.format(fault=fault, hook=hook, static=static))


def run_scheduling(folder: Path, code: str) -> CompletedProcess[str]:
    install(folder, {"license": code}, {f"{SCHEDULING}/AcmeLicense": "acme_plugins.license:ACME_LICENSE"})
    profile = {"schedulerName": "default-scheduler", "plugins": {"multiPoint": {"enabled": [{"name": "AcmeLicense"}]}}}
    scheduler = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    (folder / "scheduler.yaml").write_text(yaml.safe_dump({**scheduler, "profiles": [profile]}))
    policy = spot_policy()
    args = {"schedulerConfigFile": str(folder / "scheduler.yaml")}
    policy["profiles"][0]["pluginConfig"][1] = {"name": "PlacementVerification", "args": args}
    plugins = {"deschedule": {"enabled": ["PodLifeTime"]}, "preevictionfilter": {"enabled": ["PlacementVerification"]}}
    policy["profiles"][0]["plugins"] = plugins
    return run(folder, policy, "-o", "json")


@pytest.mark.long
@pytest.mark.parametrize(
    ("hook", "static"),
    [("factory", False), ("pre_filter", False), ("pre_filter", True), ("filter", False), ("filter", True)],
)
def test_scheduling_plugin_that_ends_the_program_makes_landings_unknown(
    tmp_path: Path, hook: str, static: bool
) -> None:
    ended = run_license(tmp_path, hook, "sys.exit(0)", static=static)

    fault = "plugin AcmeLicense (package acme-plugins) failed: SystemExit at acme_plugins/license.py:10"
    plan = json.loads(ended.stdout)
    assert ended.returncode == 1
    assert [failure["message"] for failure in plan["failures"]] == [fault]
    assert plan["moves"] == []
    assert [(each["code"], fault in each["message"]) for each in plan["refusals"]] == [("UnknownLanding", True)]


@pytest.mark.long
@pytest.mark.parametrize("hook", ["permit", "patch"])
def test_scheduling_plugin_that_fails_after_the_node_is_chosen_makes_the_landing_depend_on_it(
    tmp_path: Path, hook: str
) -> None:
    ended = run_license(tmp_path, hook, "sys.exit(0)")

    plan = json.loads(ended.stdout)
    assert ended.returncode == 1
    assert len(plan["failures"]) == 1
    assert [each["code"] for each in plan["refusals"]] == ["ConditionalLanding"]


@pytest.mark.long
def test_scheduling_plugin_with_a_misspelt_method_is_refused_with_both_lists(tmp_path: Path) -> None:
    misspelt = LICENSE.replace("def permit(", "def permits(").format(fault="pass", hook="", static=False)

    ended = run_scheduling(tmp_path, misspelt)

    assert ended.returncode == 2
    assert "its row names preFilter (pre_filter" in ended.stderr
    assert "permit (permit); " in ended.stderr
    assert "class AcmeLicense has filter, is_static, name, obstacle, patch, permits, pre_filter, score" in ended.stderr
