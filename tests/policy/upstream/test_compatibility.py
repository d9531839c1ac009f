"""`compatibility: fixed`: defects of reading a DeschedulerPolicy that are mended."""

from __future__ import annotations

from descheduler.cycle.plugins import REGISTRY
from descheduler.policy.load import load_policy
from descheduler.policy.plugin import PluginSpec
from tests.policy.builders import messages, upstream


def test_document_without_api_version_is_refused_where_defects_are_fixed() -> None:
    found = messages("kind: DeschedulerPolicy\ncompatibility: fixed\n")

    assert found == ["policy.yaml:1:1: apiVersion is missing; add 'apiVersion: descheduler/v1alpha2'"]


_DOCUMENTED_SPELLING = (
    "profiles:\n- pluginConfig: [{name: Second}]\n  plugins: {preEvictionFilter: {enabled: [Second]}}\n"
)


def test_documented_spelling_of_the_pre_eviction_filter_is_read_where_defects_are_fixed() -> None:
    second = PluginSpec(
        name="Second",
        args_type=REGISTRY["PodLifeTime"].args_type,
        extension_points=frozenset({"preEvictionFilter"}),
        factory=REGISTRY["PodLifeTime"].factory,
    )
    text = upstream(_DOCUMENTED_SPELLING)

    fixed = load_policy(f"{text}compatibility: fixed\n", {**REGISTRY, "Second": second})

    assert fixed.profiles[0].pre_eviction_filter == ("DefaultEvictor", "Second")
    assert fixed.warnings == ()


def test_unknown_plugin_under_the_documented_spelling_is_a_problem_where_defects_are_fixed() -> None:
    text = upstream("compatibility: fixed\nprofiles:\n- plugins: {preEvictionFilter: {enabled: [Nope]}}\n")

    (found,) = messages(text)

    assert found.startswith("policy.yaml:5:43: profiles[0].plugins.preEvictionFilter.enabled[0]: unknown plugin 'Nope'")
