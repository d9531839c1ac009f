"""Sentences that stand under attributes in the source, which Python itself does not keep."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from enum import Enum

__all__ = ["attribute_docs", "member_docs", "paragraphs"]


def attribute_docs(cls: type) -> dict[str, str]:
    """Attribute name → the paragraph below it, on one line; attributes without one are left out."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(definition, ast.ClassDef)  # noqa: S101 - what getsource gives for a class
    docs: dict[str, str] = {}
    name: str | None = None
    for statement in definition.body:
        text = _text(statement)
        if text is not None and name is not None:
            (docs[name],) = paragraphs(text)
        name = _assigned_name(statement)
    return docs


def member_docs(enum: type[Enum]) -> dict[str, str]:
    """Value of each member, as text, → the sentence below it."""
    docs = attribute_docs(enum)
    return {str(member.value): docs[member.name] for member in enum}


def paragraphs(docstring: str | None) -> list[str]:
    """The paragraphs of a docstring, each on one line, in the words of a policy file instead of Python's."""
    blocks = [" ".join(block.split()) for block in (docstring or "").split("\n\n")]
    spoken = (_in_words(_without_raises(block)) for block in blocks)
    return [block for block in spoken if block]


def _text(statement: ast.stmt) -> str | None:
    """The string that the statement is, if it is nothing else."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
        return None
    return statement.value.value if isinstance(statement.value.value, str) else None


def _assigned_name(statement: ast.stmt) -> str | None:
    """The one name that the statement assigns to or declares."""
    match statement:
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return None


def _without_raises(block: str) -> str:
    return re.sub(r"\s*Raises [^.]*\.", "", block).strip()


def _in_words(text: str) -> str:
    text = re.sub(r"^None\b", "Unset", text)
    return re.sub(r"\bNone\b", "unset", re.sub(r"\bTrue\b", "true", text))
