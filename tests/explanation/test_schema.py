from __future__ import annotations

import json

import jsonschema
import msgspec
import pytest

from descheduler.explanation.docs.schema import DOCUMENTS, schema_text
from descheduler.report.formats.json_text import json_text
from descheduler.report.outcome.document import OutcomeDocument
from descheduler.report.plan.document import Plan
from descheduler.report.published_schema import published_schema
from tests.builders import make_pod
from tests.report.decided_cycles import make_test_plan
from tests.report.outcomes import EVICTED, FAILED, outcome_of

PLAN = make_test_plan([make_pod("old"), make_pod("bare\x1b", owners=())], warnings=("näh\u2028",), skipped=("one",))
OUTCOME = outcome_of(EVICTED, FAILED)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_published_schema_is_that_of_the_types(name: str) -> None:
    assert published_schema(name) == schema_text(DOCUMENTS[name]), "run: make schema"


@pytest.mark.parametrize(("name", "document"), [("plan", PLAN), ("outcome", OUTCOME)])
def test_documents_obey_their_schema(name: str, document: Plan | OutcomeDocument) -> None:
    schema = json.loads(published_schema(name))

    jsonschema.validate(
        json.loads(json_text(document)),
        schema,
        cls=jsonschema.Draft202012Validator,
        format_checker=jsonschema.FormatChecker(),
    )


def test_schema_allows_no_field_it_does_not_name() -> None:
    schema = json.loads(published_schema("plan"))
    document = json.loads(json_text(PLAN)) | {"surprise": 1}

    with pytest.raises(jsonschema.ValidationError, match="surprise"):
        jsonschema.validate(document, schema)


def test_schema_requires_every_field() -> None:
    schemas = [json.loads(published_schema(name))["$defs"] for name in DOCUMENTS]

    for definitions in schemas:
        assert all(set(d["required"]) == set(d["properties"]) for d in definitions.values())


@pytest.mark.parametrize("document", [PLAN, OUTCOME])
def test_json_reads_back_as_the_same_document(document: Plan | OutcomeDocument) -> None:
    assert msgspec.json.decode(json_text(document), type=type(document)) == document
