"""Scheduler configurations that load although something in them is odd."""

from __future__ import annotations

import pytest

from .builders import scheduler, warnings, with_args, with_plugins

ARGS = "profiles[0].pluginConfig[0].args"

WARNINGS = [
    pytest.param(
        with_plugins("{filter: {enabled: [{name: NodeResourceFit}]}}"),
        ":5:39: profiles[0].plugins.filter.enabled[0].name: plugin 'NodeResourceFit' is not kube-scheduler's own; "
        "what it does is unknown; did you mean 'NodeResourcesFit'?",
        id="a plugin of others",
    ),
    pytest.param(
        with_plugins("{score: {disabled: [{name: ImageLocalty}]}}"),
        ":5:39: profiles[0].plugins.score.disabled[0].name: unknown plugin 'ImageLocalty', nothing to disable; "
        "did you mean 'ImageLocality'?",
        id="a disabled plugin that does not exist",
    ),
    pytest.param(
        with_plugins("{preFilter: {disabled: [{name: NodePorts}, {name: VolumeBinding}]}}"),
        ":5:24: profiles[0].plugins.preFilter: NodePorts, VolumeBinding would run at filter but not at preFilter; "
        "kube-scheduler then schedules no pod of this profile",
        id="filters that nothing prepares",
    ),
    pytest.param(
        with_plugins("{preScore: {disabled: [{name: TaintToleration}]}}"),
        ":5:23: profiles[0].plugins.preScore: TaintToleration would run at score but not at preScore; "
        "kube-scheduler then schedules no pod that fits more than one node",
        id="a scorer that nothing prepares",
    ),
    pytest.param(
        with_args("NodeResourceFit", "{}"),
        ":6:11: profiles[0].pluginConfig[0].name: unknown plugin 'NodeResourceFit', its arguments are ignored; "
        "did you mean 'NodeResourcesFit'?",
        id="arguments of an unknown plugin",
    ),
    pytest.param(
        with_args("NodeName", "{}"),
        ":6:5: profiles[0].pluginConfig[0]: NodeName takes no arguments; they are ignored",
        id="arguments of a plugin without any",
    ),
    pytest.param(
        scheduler(
            "profiles:\n- plugins: {multiPoint: {disabled: [{name: NodePorts}, {name: NodeAffinity}]}}\n"
            "  pluginConfig: [{name: NodeAffinity}]\n"
        ),
        ":5:18: profiles[0].pluginConfig[0]: NodeAffinity is configured but not enabled in this profile",
        id="arguments of a plugin that does not run",
    ),
    pytest.param(
        with_args("NodeResourcesFit", "{scoringStrategy: {type: LeastAllocated, requestedToCapacityRatio: {}}}"),
        f":7:78: {ARGS}.scoringStrategy.requestedToCapacityRatio: counts for the strategy RequestedToCapacityRatio "
        "only, ignored; Kubernetes 1.36 refuses it",
        id="a shape for another strategy",
    ),
    pytest.param(
        with_args(
            "PodTopologySpread",
            "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, "
            "whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: honor}]}",
        ),
        f":7:139: {ARGS}.defaultConstraints[0].nodeTaintsPolicy: 'honor' is neither Honor nor Ignore and is "
        "treated as Ignore; did you mean 'Honor'?",
        id="a policy spelled wrongly",
    ),
    pytest.param(
        scheduler("extenders: [{filterVerb: f}]\n"),
        ":3:26: extenders[0].filterVerb: an extender filters nodes; whether pods fit is unknown",
        id="an extender that filters",
    ),
    pytest.param(
        scheduler("extenders: [{prioritizeVerb: p, weight: 1, managedResources: [{name: a/b}]}]\n"),
        ":3:30: extenders[0].prioritizeVerb: an extender scores nodes; "
        "which one pods that request its resources get is unknown",
        id="an extender that scores",
    ),
    pytest.param(
        scheduler("extenders: [{bindVerb: b}]\n"),
        ":3:24: extenders[0].bindVerb: an extender binds pods; it is assumed to bind to the chosen node",
        id="an extender that binds",
    ),
    pytest.param(
        scheduler("---\nkind: Pod\n"),
        ":3:1: another document begins here; only the first one of a file is read",
        id="a second document",
    ),
]


@pytest.mark.parametrize(("text", "message"), WARNINGS)
def test_what_is_odd_is_one_warning(text: str, message: str) -> None:
    assert warnings(text) == [f"scheduler.yaml{message}"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(scheduler(), id="no settings"),
        pytest.param(with_plugins("{filter: {disabled: [{name: '*'}]}}"), id="everything disabled"),
        pytest.param(with_plugins("{filter: {disabled: [{name: EBSLimits}]}}"), id="a removed plugin disabled"),
        pytest.param(
            scheduler("leaderElection: {leaderElect: true}\nclientConnection: {kubeconfig: /etc/scheduler.conf}\n"),
            id="settings of the process",
        ),
    ],
)
def test_what_is_ordinary_needs_no_warning(text: str) -> None:
    assert warnings(text) == []
