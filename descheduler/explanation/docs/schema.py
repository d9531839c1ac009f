"""The JSON Schema of each document, generated from its type.

`python -m descheduler.explanation.docs.schema` writes the files."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.documents.fields import Fields
from descheduler.explanation.explaining import explanation_type
from descheduler.report.outcome.document import Outcome
from descheduler.report.outcome.status_document import Status
from descheduler.report.plan.document import Plan
from descheduler.report.plan.file import PlanFile
from descheduler.report.published_schema import schema_file
from descheduler.report.simulation_document import Simulation

__all__ = ["DIALECT", "DOCUMENTS", "schema_text"]

DOCUMENTS: Mapping[str, type[Fields]] = {
    "plan": Plan,
    "outcome": Outcome,
    "explanation": explanation_type(),
    "plan-file": PlanFile,
    "status": Status,
    "simulation": Simulation,
}
"""Name on the command line → type of the document."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_text(document: type[Fields]) -> str:
    """The schema of a document as JSON, made from its type."""
    schema = {"$schema": DIALECT, "title": document.__name__, **msgspec.json.schema(document)}
    return msgspec.json.format(msgspec.json.encode(schema, order="deterministic"), indent=2).decode() + "\n"


if __name__ == "__main__":
    for name, document_type in DOCUMENTS.items():
        schema_file(name).write_text(schema_text(document_type), "utf-8")
