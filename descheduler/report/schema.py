"""The JSON Schema of each document, generated from its type. `python -m descheduler.report.schema` writes the files."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.documents.fields import Fields
from descheduler.report.explanation.document import Explanation
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
    "explanation": Explanation,
    "plan-file": PlanFile,
    "status": Status,
    "simulation": Simulation,
}
"""Name on the command line → type of the document."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_text(name: str) -> str:
    """The schema of a document as JSON, made from its type."""
    document = DOCUMENTS[name]
    schema = {"$schema": DIALECT, "title": document.__name__, **msgspec.json.schema(document)}
    return msgspec.json.format(msgspec.json.encode(schema, order="deterministic"), indent=2).decode() + "\n"


if __name__ == "__main__":
    for document_name in DOCUMENTS:
        schema_file(document_name).write_text(schema_text(document_name), "utf-8")
