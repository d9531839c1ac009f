"""The version of Kubernetes and what hangs on it."""

from __future__ import annotations

import pytest

from descheduler.model.kube_version import GATES, NEWEST, KubeVersion, KubeVersionError, encodes_as_stream


@pytest.mark.parametrize(
    ("text", "release"),
    [
        pytest.param("1.37", (1, 37), id="a release"),
        pytest.param("v1.36.3", (1, 36), id="a patch release as servers answer it"),
        pytest.param("v1.35.1+k3s1", (1, 35), id="a distribution's build"),
        pytest.param("1.34+", (1, 34), id="the minor version of a managed cluster"),
        pytest.param("v1.33.4-gke.1350000", (1, 33), id="a build after a dash"),
        pytest.param(" v1.36.0-rc.1\n", (1, 36), id="a candidate with space around it"),
    ],
)
def test_version_is_read(text: str, release: tuple[int, int]) -> None:
    version = KubeVersion.parse(text)

    assert (version.major, version.minor) == release
    assert version.note == ""


@pytest.mark.parametrize(
    ("text", "release", "note"),
    [
        pytest.param(
            "v1.31.9",
            "1.33",
            "Kubernetes 1.31 is not supported; the rules of 1.33, the oldest release, apply",
            id="one too old",
        ),
        pytest.param(
            "1.38",
            "1.37",
            "Kubernetes 1.38 is not supported; the rules of 1.37, the newest release, apply",
            id="one too new",
        ),
        pytest.param(
            "2.0",
            "1.37",
            "Kubernetes 2.0 is not supported; the rules of 1.37, the newest release, apply",
            id="the next major",
        ),
    ],
)
def test_nearest_release_stands_for_one_that_is_not_described(text: str, release: str, note: str) -> None:
    version = KubeVersion.parse(text)

    assert str(version) == release
    assert version.note == note


@pytest.mark.parametrize("text", ["", "1", "latest", "v1.x", "1.36 or so", "1.36beta", "1.٣"])
def test_text_that_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(KubeVersionError) as refused:
        KubeVersion.parse(text)

    assert str(refused.value) == f"{text!r} is not a Kubernetes version; write it as 1.36 or v1.36.3"


def test_release_that_is_not_described_cannot_be_made() -> None:
    with pytest.raises(KubeVersionError) as refused:
        KubeVersion(1, 32)

    assert str(refused.value) == "Kubernetes 1.32 is not supported; use 1.33 to 1.37"


def test_newest_release_is_assumed() -> None:
    assert KubeVersion() == KubeVersion(*NEWEST)


@pytest.mark.parametrize(
    ("gate", "on"),
    [
        ("TaintTolerationComparisonOperators", ""),
        ("GangScheduling", ""),
        ("StorageCapacityScoring", "37"),
        ("VolumeLimitScaling", "37"),
        ("MatchLabelKeysInPodTopologySpread", "33 34 35 36 37"),
        ("MatchLabelKeysInPodTopologySpreadSelectorMerge", "34 35 36 37"),
        ("PodLevelResources", "34 35 36 37"),
        ("InPlacePodVerticalScaling", "33 34 35 36 37"),
        ("InPlacePodLevelResourcesVerticalScaling", "36 37"),
        ("NodeDeclaredFeatures", "36 37"),
        ("VolumeAttributesClass", "34 35 36 37"),
        ("DynamicResourceAllocation", "34 35 36 37"),
        ("DRAExtendedResource", "36 37"),
        ("OpportunisticBatching", "35 36 37"),
        ("scores_balance_change", "36 37"),
        ("scores_image_volumes", "36 37"),
        ("counts_ports_of_sidecars", "34 35 36 37"),
        ("rules_out_nodes_too_small", "34 35 36 37"),
        ("counts_portworx_volumes_everywhere", "36 37"),
        ("ties_in_examined_order", "35 36 37"),
        ("bounds_image_volumes", "37"),
        ("narrows_to_named_node", "37"),
        ("sums_resized_requests", "37"),
        ("matches_negative_namespace_selectors_everywhere", "34 35 36"),
    ],
)
def test_gate_is_on_from_its_release_on(gate: str, on: str) -> None:
    releases = [str(minor) for minor in range(33, 38) if KubeVersion(1, minor).gate(gate)]

    assert " ".join(releases) == on


def test_operator_sets_gates_on_top_of_the_release() -> None:
    version = KubeVersion().with_gates({"TaintTolerationComparisonOperators": True, "PodLevelResources": False})

    version = version.with_gates({"PodLevelResources": True, "ties_in_examined_order": False})

    assert version.gate("TaintTolerationComparisonOperators")
    assert version.gate("PodLevelResources")
    assert not version.gate("ties_in_examined_order")
    assert not KubeVersion().gate("TaintTolerationComparisonOperators")


def test_equal_settings_make_equal_versions() -> None:
    first = (
        KubeVersion.parse("1.40").with_gates({"PodLevelResources": False}).with_gates({"DRAExtendedResource": False})
    )
    second = KubeVersion().with_gates({"DRAExtendedResource": False, "PodLevelResources": False})

    assert first == second
    assert hash(first) == hash(second)


def test_gate_is_off_without_the_ones_it_requires() -> None:
    version = KubeVersion().with_gates({"PodLevelResources": False})

    assert not version.gate("InPlacePodLevelResourcesVerticalScaling")
    assert not version.with_gates({"InPlacePodLevelResourcesVerticalScaling": True}).gate(
        "InPlacePodLevelResourcesVerticalScaling"
    )


def test_unknown_gate_is_one_clear_error() -> None:
    with pytest.raises(KubeVersionError) as asked:
        KubeVersion().gate("PodLevelResource")
    with pytest.raises(KubeVersionError) as given:
        KubeVersion().with_gates({"tiesInExaminedOrder": True})
    with pytest.raises(KubeVersionError) as foreign:
        KubeVersion().gate("Xyz")

    assert str(asked.value) == "unknown gate 'PodLevelResource'; did you mean 'PodLevelResources'?"
    assert str(given.value) == "unknown gate 'tiesInExaminedOrder'; did you mean 'ties_in_examined_order'?"
    assert str(foreign.value) == (
        "unknown gate 'Xyz'; those that change a decision are in docs/reference/feature-gates.md"
    )


def test_table_names_only_gates_it_has() -> None:
    required = {name for gate in GATES.values() for name in gate.requires}

    assert required <= set(GATES)
    assert all(name == gate.name and gate.effect for name, gate in GATES.items())


@pytest.mark.parametrize(
    ("version", "streams"),
    [
        ("v1.33.0", True),
        ("v1.34.1+k3s1", True),
        ("v2.0.0", True),
        ("v1.32.9", False),
        ("v0.99.0", False),
        ("", False),
        ("unknown", False),
    ],
)
def test_api_server_streams_lists_since_a_release(version: str, streams: bool) -> None:
    assert encodes_as_stream(version) is streams
