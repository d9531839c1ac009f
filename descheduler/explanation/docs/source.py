"""What the source says of modules, classes and attributes, read from the source files.

Python does not keep the sentences under attributes, and under `-OO` it keeps no docstring either. An installation
without source files has no such sentences.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from enum import Enum
from types import ModuleType


def docstring(subject: ModuleType | type | Callable[..., object]) -> str:
    """The docstring of a module, a class or a function, also where Python has stripped it; empty without one."""
    text = _source_of(subject)
    if text is None:
        return ""
    module = ast.parse(textwrap.dedent(text))
    if isinstance(subject, ModuleType):
        return ast.get_docstring(module) or ""
    (definition,) = module.body
    if not isinstance(definition, (ast.ClassDef, ast.FunctionDef)):
        raise TypeError(f"{subject!r} is neither a class nor a function")
    return ast.get_docstring(definition) or ""


def attribute_docs(cls: type) -> dict[str, str]:
    """Attribute name → the paragraph below it, on one line; attributes without one are left out.

    Those of a class that it derives from come first.
    """
    text = _source_of(cls)
    if text is None:
        return {}
    (definition,) = ast.parse(textwrap.dedent(text)).body
    if not isinstance(definition, ast.ClassDef):
        raise TypeError(f"{cls!r} is not a class")
    base = cls.__base__
    docs = attribute_docs(base) if base is not None and vars(base).get("__annotations__") else {}
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


def _source_of(subject: ModuleType | type | Callable[..., object]) -> str | None:
    try:
        return inspect.getsource(subject)
    except OSError:
        return None


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
