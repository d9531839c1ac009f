"""Bad DeschedulerConfigurations: each fault gets one clear message, with the place."""

from __future__ import annotations

import pytest

from tests.policy.builders import koordinator, messages

CONFIGURATIONS = [
    pytest.param(koordinator("foo: 1\n"), ":3:1: foo: unknown field", id="an unknown top-level field"),
    pytest.param(
        koordinator("dryRun: true\ndryRun: false\n"), ":4:1: dryRun: is given twice; keep one of them", id="a key twice"
    ),
    pytest.param(
        koordinator("nodeSelector: a=b\n"),
        ":3:15: nodeSelector: expected an object, found the string 'a=b'",
        id="a node selector as a string",
    ),
    pytest.param(
        koordinator("profiles:\n- plugins: {balance: {enabled: [LowNodeUtilization]}}\n"),
        ":4:33: profiles[0].plugins.balance.enabled[0]: expected an object, found the string 'LowNodeUtilization'",
        id="enabled plugins as strings",
    ),
    pytest.param(
        koordinator("profiles:\n- plugins: {evict: {disabled: [{name: '*'}]}}\n"),
        ":4:20: profiles[0].plugins.evict: no evict plugin is left; enable exactly one, such as MigrationController",
        id="no evict plugin",
    ),
    pytest.param(
        koordinator(
            "profiles:\n- plugins: {evict: {disabled: [{name: '*'}], enabled: [{name: MigrationControler}]}}\n"
        ),
        ":4:63: profiles[0].plugins.evict.enabled[0].name: unknown plugin 'MigrationControler'; "
        "did you mean 'MigrationController'?",
        id="an unknown evict plugin",
    ),
    pytest.param(
        koordinator("profiles:\n- plugins: {evict: {enabled: [{name: DefaultEvictor}]}}\n"),
        ":4:20: profiles[0].plugins.evict: 'MigrationController' and 'DefaultEvictor' would all evict; "
        "keep one, and disable the default with '- name: \"*\"'",
        id="two evict plugins",
    ),
    pytest.param(
        koordinator("profiles:\n- plugins: {deschedule: {enabled: [{name: RemoveDuplicates}]}}\n"),
        ":4:43: profiles[0].plugins.deschedule.enabled[0].name: "
        "RemoveDuplicates is a balance plugin, not a deschedule plugin; move it to plugins.balance.enabled",
        id="a plugin in a set it does not implement",
    ),
    pytest.param(
        koordinator(
            "profiles:\n- plugins: {balance: {enabled: [{name: RemoveDuplicates}, {name: RemoveDuplicates}]}}\n"
        ),
        ":4:66: profiles[0].plugins.balance.enabled[1].name: plugin 'RemoveDuplicates' is enabled twice in this set",
        id="a plugin twice in a set",
    ),
    pytest.param(
        koordinator("profiles:\n- plugins: {deschedule: {enabled: [{name: PodLifeTime}]}}\n"),
        ":4:12: profiles[0].pluginConfig.PodLifeTime: has no criterion; "
        "give maxPodLifeTimeSeconds, states, conditions or exitCodes",
        id="default arguments that are not valid",
    ),
    pytest.param(
        koordinator("profiles:\n- {name: a}\n- {name: a}\n"),
        ":5:10: profiles[1].name: 'a' is the name of an earlier profile too",
        id="two profiles of one name",
    ),
    pytest.param(
        koordinator("profiles:\n- {name: a}\n- {}\n"),
        ":5:3: profiles[1].name: is missing; name every profile when there are several",
        id="a second profile without a name",
    ),
    pytest.param(
        koordinator("profiles:\n- pluginConfig: [{name: RemoveDuplicats}]\n"),
        ":4:25: profiles[0].pluginConfig[0].name: unknown plugin 'RemoveDuplicats'; did you mean 'RemoveDuplicates'?",
        id="arguments of an unknown plugin",
    ),
    pytest.param(
        koordinator("profiles:\n- pluginConfig: [{name: MigrationController}, {name: MigrationController}]\n"),
        ":4:54: profiles[0].pluginConfig[1].name: 'MigrationController' is configured twice; keep one of them",
        id="a plugin configured twice",
    ),
    pytest.param(
        koordinator("profiles:\n- pluginConfig: [{name: MigrationController, args: {kind: FooArgs}}]\n"),
        ":4:59: profiles[0].pluginConfig[0].args.kind: is 'FooArgs'; arguments of MigrationController need "
        "MigrationControllerArgs, or leave it out",
        id="arguments of another kind",
    ),
    pytest.param(
        koordinator("profiles:\n- pluginConfig: [{name: MigrationController, args: {evictQPS: '0'}}]\n"),
        ":4:63: profiles[0].pluginConfig[0].args.evictQPS: '0' is not a number above 0 (evictions per second)",
        id="a rate of zero",
    ),
    pytest.param(
        koordinator("profiles:\n- pluginConfig: [{name: MigrationController, args: {maxMigratingPerWorkload: '5'}}]\n"),
        ":4:78: profiles[0].pluginConfig[0].args.maxMigratingPerWorkload: "
        "'5' is neither a number nor a percentage such as '10%'",
        id="a number in quotes where a percentage may be",
    ),
    pytest.param(
        koordinator("profiles:\n- pluginConfig: [{name: MigrationController, args: {skipEvictionGates: [pvc]}}]\n"),
        ":4:73: profiles[0].pluginConfig[0].args.skipEvictionGates[0]: 'pvc' is not one of MaxUnavailablePerWorkload, "
        "MaxMigratingPerWorkload, MaxMigratingPerNode, MaxMigratingPerNamespace, MaxMigratingGlobally, "
        "ExpectedReplicas, PVC, BarePods, LocalStorage, SystemCritical, PriorityThreshold, LabelSelector, Namespaces, "
        "NodeFit",
        id="an unknown eviction gate",
    ),
    pytest.param(
        koordinator("leaderElection: {leaseDuration: 5s}\n"),
        ":3:33: leaderElection.leaseDuration: is not above renewDeadline; the Lease would expire while renewed",
        id="a lease shorter than its renewal",
    ),
    pytest.param(
        koordinator("healthzBindAddress: ':health'\n"),
        ":3:21: healthzBindAddress: ':health' is not an address; write host:port, such as 0.0.0.0:10251",
        id="an address without a port number",
    ),
    pytest.param(
        koordinator("clientConnection: {burst: -1}\n"), ":3:27: clientConnection.burst: -1 is below 0", id="bad burst"
    ),
]


@pytest.mark.parametrize(("text", "message"), CONFIGURATIONS)
def test_bad_configurations_get_one_message_with_their_place(text: str, message: str) -> None:
    assert messages(text) == ["policy.yaml" + message]
