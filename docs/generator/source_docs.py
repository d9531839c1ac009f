"""Sentences that stand under attributes in the source, which Python itself does not keep."""

from __future__ import annotations

import ast
import inspect
import textwrap
from enum import Enum

from docs.generator.markdown import paragraphs

__all__ = ["attribute_docs", "member_docs"]


def attribute_docs(cls: type) -> dict[str, str]:
    """Attribute name → the paragraph below it, on one line; attributes without one are left out."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(definition, ast.ClassDef)  # noqa: S101 - what getsource gives for a class
    docs: dict[str, str] = {}
    name = None
    for statement in definition.body:
        match statement:
            case ast.Expr(value=ast.Constant(value=text)) if name is not None and isinstance(text, str):
                (docs[name],) = paragraphs(text)
                name = None
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                pass
            case _:
                name = None
    return docs


def member_docs(enum: type[Enum]) -> dict[str, str]:
    """Value of each member, as text, → the sentence below it."""
    docs = attribute_docs(enum)
    return {str(member.value): docs[member.name] for member in enum}
