"""A subject is one module and one row: question, completion, help, document, schema and tables are made from them."""

from __future__ import annotations

import json

import click
import jsonschema
import pytest

from descheduler.cli.question import Question, complete_question, read_question
from descheduler.explanation.docs.schema import schema_text
from descheduler.explanation.explaining import Explanation, explain, explanation_type, settings_for
from descheduler.explanation.finding import UnknownSubjectError
from descheduler.report.formats.json_text import json_text
from descheduler.report.formats.render import render
from descheduler.report.subjects import SUBJECTS, Subject, SubjectType, help_on
from tests.builders import NOW, Object, node_object, pod_object
from tests.explanation.priority_classes import PriorityExplanation
from tests.explanation.questions import cluster_of

PRIORITY = Subject(
    "priority",
    "tests.explanation.priority_classes",
    (SubjectType("priorityclass", ("pc",), has_namespace=False),),
    "priorityclass/NAME: how many pods have its priority.",
    needs_cluster=False,
)
ROWS = (*SUBJECTS, PRIORITY)
HIGH: Object = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "high", "uid": "uid-high"},
    "value": 1000,
}


def explained(name: str) -> Explanation:
    """What is said about the class in a cluster with one that has a pod."""
    cluster = cluster_of(HIGH, node_object("a"), pod_object("web", priority=1000), pod_object("idle"))
    settings = settings_for(None)
    return explain("priorityclass", name, cluster, policy=None, settings=settings, now=NOW, subjects=ROWS)


def completed(*words: str, incomplete: str) -> list[str]:
    """What a shell offers after `words`."""
    argument = click.Argument(["question"], nargs=-1)
    ctx = click.Context(click.Command("explain", params=[argument]))
    ctx.params["question"] = words
    return [item.value for item in complete_question(ctx, argument, incomplete, ROWS)]


def test_answer_is_the_field_of_its_row_and_all_others_are_null() -> None:
    document = json.loads(json_text(explained("high")))

    assert document["priority"] == {"name": "high", "value": 1000, "numPods": 1}
    assert [document[_camel(subject.field)] for subject in SUBJECTS] == [None] * len(SUBJECTS)
    assert document["warnings"] == ["ages are not shown"]


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


@pytest.mark.long
def test_schema_has_the_subject() -> None:
    schema = json.loads(schema_text(explanation_type(ROWS)))

    jsonschema.validate(json.loads(json_text(explained("high"))), schema, cls=jsonschema.Draft202012Validator)
    assert "`priority`" in schema["$defs"]["Explanation"]["description"]
    assert schema["$defs"]["PriorityExplanation"]["required"] == ["name", "value", "numPods"]


def test_table_is_that_of_the_module() -> None:
    assert "".join(render(explained("high"), "table")) == (
        "Policy: none; dump: objects; time: 2026-06-30T12:00:00Z\n\n"
        "PRIORITY CLASS   VALUE   PODS\nhigh             1000    1\n\nwarning: ages are not shown\n"
    )


def test_answer_is_typed_and_unknown_names_are_told() -> None:
    assert explained("high").answer == PriorityExplanation(name="high", value=1000, num_pods=1)
    with pytest.raises(UnknownSubjectError, match="no PriorityClass 'higher' in"):
        explained("higher")


def test_question_and_completion_know_the_words_of_the_row() -> None:
    question = read_question(["pc/high"], "shop", all_namespaces=False, subjects=ROWS)

    assert question == Question("priorityclass", "high")
    assert completed(incomplete="prio") == ["priorityclass"]
    assert completed("pc", incomplete="H") == ["high"]


def test_help_names_the_type_and_what_is_said_about_it() -> None:
    types, *paragraphs = help_on(ROWS)

    assert "priorityclass (pc)" in types
    assert paragraphs[-1] == "priorityclass/NAME: how many pods have its priority."


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.field)
def test_completion_of_names_asks_no_cluster(subject: Subject) -> None:
    names = completed(subject.types[0].name, incomplete="pod")

    assert ("PodLifeTime" in names) == (not subject.needs_cluster)
