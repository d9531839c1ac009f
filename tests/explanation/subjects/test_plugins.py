from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

import descheduler.placement
from descheduler.cycle.plugins import REGISTRY
from descheduler.explanation.docs.arguments import PluginArgument, argument_docs
from descheduler.explanation.docs.source import attribute_docs
from descheduler.explanation.subjects.plugin import PluginDecisions, PluginUse, explain_plugin, plugin_table
from descheduler.explanation.watched_run import watched_run
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.plugins.table import PLUGINS
from descheduler.report.tables.table_style import TableStyle
from tests.builders import NOW, Object, make_snapshot, node_object, pod_object
from tests.explanation.questions import plugin_explanation, policy_of
from tests.placement.default_scheduler import DEFAULT_CONFIGURATION
from tests.report.decided_cycles import pod_life_time_policy
from tests.strategies.decided_worlds import World
from tests.strategies.quiet_worlds import QUIET
from tests.strategies.runs import policy_with
from tests.worlds.node_metrics import metrics_by_node

OBJECTS = [
    node_object("a"),
    node_object("b"),
    pod_object("bare", owners=()),
    pod_object("old-1"),
    pod_object("old-2"),
]


def test_a_plugin_tells_what_it_does_where_and_with_which_arguments() -> None:
    explanation = explain_plugin("podlifetime", policy=None, scheduling=DEFAULT_CONFIGURATION)

    assert explanation.name == "PodLifeTime"
    assert explanation.summary.startswith("Evicts pods that are too old")
    assert explanation.points == ("deschedule",)
    assert (
        PluginArgument(name="conditions[].type", type_text="string", default="", meaning="Such as `Ready`.")
        in explanation.arguments
    )
    assert (explanation.uses, explanation.decisions) == ((), ())


def test_a_policy_tells_who_runs_it_and_with_what() -> None:
    policy = policy_of(pod_life_time_policy(["one", "two"]))

    explanation = explain_plugin("PodLifeTime", policy=policy, scheduling=DEFAULT_CONFIGURATION)

    assert explanation.uses == tuple(
        PluginUse(profile=name, points=("deschedule",), weight=None, args={"maxPodLifeTimeSeconds": "60"})
        for name in ("one", "two")
    )


@pytest.mark.parametrize(
    ("plugin", "row"),
    [
        ("PodLifeTime", ["one", "deschedule", "maxPodLifeTimeSeconds:", "60"]),
        ("RemoveDuplicates", ["p", "balance", "defaults"]),
    ],
)
def test_the_table_has_the_arguments_of_each_profile_or_says_that_they_are_defaults(
    plugin: str, row: list[str]
) -> None:
    document = pod_life_time_policy(["one"]) if plugin == "PodLifeTime" else policy_with(plugin)

    explanation = explain_plugin(plugin, policy=policy_of(document), scheduling=DEFAULT_CONFIGURATION)

    assert row in [line.split() for line in plugin_table(explanation, TableStyle(width=120))]


def test_a_snapshot_tells_what_it_evicted_and_did_not_get() -> None:
    policy = policy_of(pod_life_time_policy(maxNoOfPodsToEvictTotal=1))

    explanation = plugin_explanation("PodLifeTime", OBJECTS, policy)

    (decisions,) = explanation.decisions
    assert (decisions.evicted, decisions.refused) == (1, {"BarePod": 1, "LimitReached": 1})


SHARING: Object = {
    "profiles": [
        {
            "name": "main",
            "pluginConfig": [
                {"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}},
                {"name": "RemovePodsViolatingNodeTaints"},
            ],
            "plugins": {"deschedule": {"enabled": ["PodLifeTime", "RemovePodsViolatingNodeTaints"]}},
        }
    ],
}


def test_a_plugin_counts_pods_that_an_earlier_plugin_selected_too() -> None:
    tainted = node_object("a", taints=["maintenance:NoSchedule"])
    bare = [pod_object(f"bare-{number}", node="a", owners=()) for number in range(2)]
    objects = [tainted, node_object("b"), pod_object("old", node="a"), *bare]
    policy = policy_of({**pod_life_time_policy(), **SHARING})

    first, second = (plugin_explanation(name, objects, policy).decisions[0] for name in policy.profiles[0].deschedule)

    assert (first.evicted, first.evicted_by_others, first.refused) == (1, 0, {"BarePod": 2})
    assert (second.evicted, second.evicted_by_others, second.refused) == (0, 1, {"BarePod": 2})
    assert second.facts is not None
    assert second.facts.why_nothing == (
        "3 pods selected, none evicted: 2 blocked by BarePod, 1 evicted by another plugin"
    )


def test_a_planner_tells_its_goal() -> None:
    args = {"objectives": [{"balanceUtilization": {"targetThresholds": {"cpu": 70}}}], "workLimit": 1}
    full = [pod_object(f"web-{number}", node="a", cpu="500m") for number in range(4)]
    nodes = [node_object("a", cpu="2"), node_object("b", cpu="2")]

    explanation = plugin_explanation(
        "MigrationPlanner", [*nodes, *full], policy_of(policy_with("MigrationPlanner", args=args))
    )

    goal = "1 node over target → 0 with 2 evictions (at least 2 are needed)"
    assert [each.goals for each in explanation.decisions] == [(goal,)]
    assert any(goal in line for line in plugin_table(explanation, TableStyle(width=200)))


def test_map_valued_arguments_are_shown() -> None:
    args = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 70}}
    policy = policy_of(policy_with("LowNodeUtilization", args=args))

    (use,) = explain_plugin("LowNodeUtilization", policy=policy, scheduling=DEFAULT_CONFIGURATION).uses

    assert use.args == {"thresholds": '{"cpu": 20}', "targetThresholds": '{"cpu": 70}'}


@pytest.mark.parametrize(
    ("name", "configured", "sentence"),
    [
        pytest.param(
            "RemoveDuplicates",
            (),
            "RemoveDuplicates is not enabled in this policy; add it to plugins.balance.enabled of a profile, "
            "and - name: RemoveDuplicates to its pluginConfig",
            id="without arguments",
        ),
        pytest.param(
            "RemoveFailedPods",
            ({"name": "RemoveFailedPods"},),
            "RemoveFailedPods is not enabled in this policy; add it to plugins.deschedule.enabled of a profile",
            id="with arguments",
        ),
        pytest.param("PodLifeTime", (), "", id="enabled"),
    ],
)
def test_a_plugin_that_no_profile_runs_says_what_to_add(
    name: str, configured: tuple[Object, ...], sentence: str
) -> None:
    document: dict[str, Any] = dict(pod_life_time_policy())
    document["profiles"][0]["pluginConfig"] += configured

    explanation = explain_plugin(name, policy=policy_of(document), scheduling=DEFAULT_CONFIGURATION)

    assert explanation.not_enabled == sentence
    assert sentence in "\n".join(plugin_table(explanation, TableStyle()))


@pytest.mark.parametrize(
    ("world", "why"),
    [pytest.param(*case, id=name) for name, case in QUIET.items() if len(case[0].nodes) > 1],
)
def test_a_plugin_that_evicts_nothing_says_why(world: World, why: str) -> None:
    policy = policy_of(policy_with(world.plugin, args=world.args))
    run = watched_run(
        policy, make_snapshot(world.nodes, world.pods, node_metrics=metrics_by_node(world.metrics)), (), NOW
    )

    explanation = explain_plugin(world.plugin, policy=policy, scheduling=DEFAULT_CONFIGURATION, run=run)

    (decisions,) = explanation.decisions
    assert decisions.facts is not None
    assert decisions.facts.why_nothing == why
    assert why in "\n".join(plugin_table(explanation, TableStyle()))


def test_a_filter_tells_which_pods_it_refused() -> None:
    explanation = plugin_explanation("DefaultEvictor", OBJECTS, policy_of())

    assert explanation.decisions == (
        PluginDecisions(profile="main", evicted=0, evicted_by_others=0, refused={"BarePod": 1}, goals=(), facts=None),
    )


def test_placement_verification_counts_what_it_refuses_at_the_request_as_well() -> None:
    policy = policy_of(
        {
            "apiVersion": "descheduler/v1alpha2",
            "kind": "DeschedulerPolicy",
            "profiles": [
                {
                    "name": "main",
                    "pluginConfig": [
                        {"name": "PlacementVerification"},
                        {"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}},
                    ],
                    "plugins": {
                        "deschedule": {"enabled": ["PodLifeTime"]},
                        "preevictionfilter": {"enabled": ["PlacementVerification"]},
                    },
                }
            ],
        }
    )
    full = [node_object("a", cpu="1"), node_object("b", cpu="1", unschedulable=True)]
    stuck = pod_object("stuck", cpu="500m", scheduler="volcano")

    explanation = plugin_explanation("PlacementVerification", [*full, stuck], policy)

    (decisions,) = explanation.decisions
    assert decisions.refused == {"UnknownLanding": 1}


def test_a_scheduling_plugin_tells_its_words_its_weight_and_changed_arguments() -> None:
    configuration = load_scheduler_configuration(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [
                {
                    "schedulerName": "packer",
                    "plugins": {"score": {"enabled": [{"name": "NodeResourcesFit", "weight": 5}]}},
                    "pluginConfig": [
                        {
                            "name": "NodeResourcesFit",
                            "args": {
                                "scoringStrategy": {
                                    "type": "MostAllocated",
                                    "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}],
                                }
                            },
                        }
                    ],
                }
            ],
        },
        plugins=PLUGINS,
    )

    explanation = explain_plugin("NodeResourcesFit", policy=None, scheduling=configuration)

    assert explanation.kind == "scheduling"
    assert explanation.points == ("preFilter", "filter", "preScore", "score", "placementScore")
    assert "Too many pods" in explanation.reasons
    assert explanation.uses == (
        PluginUse(
            profile="packer",
            points=("preFilter", "filter", "score"),
            weight=5,
            args={"scoringStrategy.type": '"MostAllocated"'},
        ),
    )


@pytest.mark.parametrize("name", PLUGINS)
def test_what_filters_and_what_scores_is_said(name: str) -> None:
    row = PLUGINS[name]

    assert row.about.check or row.about.preference
    assert row.about.check or row.plugin is None
    assert bool(row.about.preference) is (row.score is not None)


@pytest.mark.parametrize("name", [name for name, row in PLUGINS.items() if row.about.reasons])
def test_the_words_of_a_scheduling_plugin_are_those_of_its_code(name: str) -> None:
    sources = Path(descheduler.placement.__path__[0]).rglob("*.py")
    code = "".join(" ".join(source.read_text("utf-8").split()).replace('" "', "") for source in sources)

    said = [reason.partition("<")[0] for reason in PLUGINS[name].about.reasons]

    assert [reason for reason in said if reason not in code] == []


@pytest.mark.parametrize("name", [name for name, row in PLUGINS.items() if row.args is not None])
def test_every_argument_of_a_scheduling_plugin_has_a_meaning(name: str) -> None:
    explanation = explain_plugin(name, policy=None, scheduling=DEFAULT_CONFIGURATION)

    assert explanation.arguments
    assert [argument.name for argument in explanation.arguments if not argument.meaning] == []


@pytest.mark.parametrize("name", REGISTRY)
def test_every_argument_of_a_plugin_has_a_meaning(name: str) -> None:
    spec = REGISTRY[name]

    without = [argument.name for argument in argument_docs(spec.args_type()) if not argument.meaning]

    assert without == []
    assert attribute_docs(spec.args_type).keys() == {field.name for field in msgspec.structs.fields(spec.args_type)}


def test_plugin_without_source_files_says_that_it_is_not_described(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(subject: object) -> str:
        raise OSError(f"no source of {subject}")

    monkeypatch.setattr("inspect.getsource", refuse)

    explanation = explain_plugin("PodLifeTime", policy=None, scheduling=DEFAULT_CONFIGURATION)

    assert explanation.summary == "Not described: this installation has no source files."
    assert [argument.meaning for argument in explanation.arguments if argument.meaning] == []
