"""The JSON Schemas as they are shipped, which are read without loading the types that they are made from."""

from __future__ import annotations

from pathlib import Path


def schema_file(name: str) -> Path:
    """Where the published schema of a document is kept, that of policies beside those of what is written."""
    return Path(__file__).with_name(f"{name}.schema.json")


def published_schema(name: str) -> str:
    """The schema as text."""
    return schema_file(name).read_text("utf-8")
