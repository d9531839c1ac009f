"""Policies that stand in values of the chart, alone or in documents of Flux and Argo CD."""

from __future__ import annotations

import json
import textwrap

import pytest
import yaml

from tests.policy.builders import load, messages, warnings

VALUES = """\
kind: Deployment
schedule: "* * * * *"
deschedulerPolicy:
  maxNoOfPodsToEvictTotal: {}
  profiles: []
"""
HELM_RELEASE = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\nspec:\n  values:\n"
APPLICATION = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec:\n  source:\n    helm:\n"
SOURCES = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec:\n  sources:\n  - ref: a\n  - helm:\n"
APPLICATION_SET = (
    "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nspec:\n  template:\n    spec:\n      source:\n"
    "        helm:\n"
)


def indented(columns: int, text: str = VALUES) -> str:
    return textwrap.indent(text, " " * columns)


FORMS = [
    pytest.param(VALUES, 4, id="a value file"),
    pytest.param(f"descheduler:\n{indented(2)}", 5, id="values of a chart above"),
    pytest.param(HELM_RELEASE + indented(4), 9, id="a HelmRelease"),
    pytest.param(f"{APPLICATION}      valuesObject:\n{indented(8)}", 10, id="valuesObject of an Application"),
    pytest.param(f"{APPLICATION}      values: |\n{indented(8)}", 10, id="values of an Application"),
    pytest.param(f"{SOURCES}      valuesObject:\n{indented(8)}", 11, id="one of the sources of an Application"),
    pytest.param(f"{APPLICATION_SET}          valuesObject:\n{indented(12)}", 12, id="an ApplicationSet"),
    pytest.param(f"kind: Namespace\n---\n{HELM_RELEASE}{indented(4)}", 11, id="one of several documents"),
    pytest.param(f"kind: ConfigMap\ndata: {{a: b}}\n---\n{HELM_RELEASE}{indented(4)}", 12, id="beside a ConfigMap"),
]


@pytest.mark.parametrize(("text", "_line"), FORMS)
def test_policy_is_read_from_values(text: str, _line: int) -> None:
    policy = load(text.replace("{}", "7"))

    assert (policy.kind, policy.max_evictions_total, policy.warnings) == ("DeschedulerPolicy", 7, ())


@pytest.mark.parametrize(("text", "line"), FORMS)
def test_places_of_problems_are_those_of_the_outer_file(text: str, line: int) -> None:
    column = text.splitlines()[line - 1].index("{}") + 1

    assert messages(text.replace("{}", "many")) == [
        f"policy.yaml:{line}:{column}: maxNoOfPodsToEvictTotal: 'many' is neither a number nor a percentage such as "
        "'10%'"
    ]


def test_policy_is_read_from_a_document_in_json() -> None:
    document = yaml.safe_load(HELM_RELEASE + indented(4).replace("{}", "7"))

    assert load(json.dumps(document)).max_evictions_total == 7


def test_values_say_the_kind_of_the_policy() -> None:
    text = "deschedulerPolicyKind: DeschedulerConfiguration\ndeschedulerPolicy: {profiles: []}\n"

    assert load(text).kind == "DeschedulerConfiguration"
    assert load("deschedulerPolicy: {kind: DeschedulerConfiguration, profiles: []}").kind == "DeschedulerConfiguration"


def test_old_version_beside_the_policy_is_named_with_its_place() -> None:
    (message,) = messages("\ndeschedulerPolicyAPIVersion: descheduler/v1alpha1\ndeschedulerPolicy: {strategies: {}}\n")

    assert message.startswith("policy.yaml:2:30: apiVersion: 'descheduler/v1alpha1' is not supported")


def test_values_with_several_policies_are_refused() -> None:
    text = "a: {deschedulerPolicy: {profiles: []}}\nb: {deschedulerPolicy: {profiles: []}}\n"

    assert messages(text) == ["policy.yaml:2:24: holds values with several policies; keep one of them"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("nodeSelector: {{ .Values.a }}", "3:15", id="a value"),
        pytest.param("{{- if .Values.a }}\nnodeSelector: a=b\n{{- end }}", "3:1", id="a condition"),
        pytest.param('profiles:\n  {{- include "x" . | nindent 2 }}', "4:3", id="an include"),
    ],
)
def test_template_is_named_as_such(text: str, place: str) -> None:
    found = messages(f"apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\n{text}\n")

    assert found == [
        f"policy.yaml:{place}: is a template ({{{{), not YAML; render it first, for example with 'helm template'"
    ]


def test_broken_yaml_without_a_template_is_not_called_one() -> None:
    assert "template" not in "".join(messages("apiVersion: 'a {{ b'\nprofiles: [\n\n\n  }\n"))


def test_text_with_a_template_is_a_warning() -> None:
    found = warnings("deschedulerPolicy:\n  profiles: []\n  metricsProviders: [{source: '{{ .Values.a }}'}]\n")

    assert any(each.startswith("policy.yaml:3:31: is a template ({{) and not evaluated") for each in found)
