"""Texts that users read are in the plain words of kubectl and the Kubernetes documentation.

The catalogue is made of every text of the package that is no docstring, the docstrings that become reference pages, and
all pages. Names of the code, in backquotes or code blocks, are no prose.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[1]

_PATTERNS = {
    r"\banew\b": "again",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\bis no (?!longer\b|more\b)[a-z]": "is not a",
    r"\bmay not\b": "is not allowed to, or might not",
    r"\bmust not be said\b": "a plain word",
    r"(?<![a-z] )\bsay (?=\d)": "for example",
    r", say[ ,]": "for example",
    r"\bwants?\b": "a verb for what the program does: selects, requests",
    r"\bwants? (it|them) gone\b": "selected by",
    r"\bstands? against\b": "blocked by",
    r"\bcannot be told\b": "unknown",
    r"\bhas done so\b": "reached",
    r"\bhangs? on\b": "depends on",
    r"\b(lets|let) go\b": "allows",
    r"\bturn(s|ed)? (away|down)\b": "refused",
    r"\bgood news\b": "a plain word",
    r"\bBroken off\b": "Interrupted",
    r"\bnobody\b": "who is meant, or: not",
    r"\bwas judged\b|\bjudged\b": "checked, decided",
    r"\bnothing was judged\b": "skipped",
    r"\b(?<!,)1 (pods|nodes|evictions|requests|replicas|plugins)\b": "the singular",
}

_CODE = re.compile(r"`[^`]*`")
_FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)


def texts_of_code(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that are not docstrings, with their lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def prose_of_page(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a page without its code."""
    text = _FENCE.sub(lambda match: "\n" * match[0].count("\n"), path.read_text(encoding="utf-8"))
    for number, line in enumerate(text.splitlines(), start=1):
        yield number, _CODE.sub("", line)


def faults(texts: Iterator[tuple[int, str]], place: str) -> Iterator[str]:
    for line, text in texts:
        for pattern, instead in _PATTERNS.items():
            if match := re.search(pattern, text):
                yield f"{place}:{line}: {match[0]!r} in {text.strip()[:100]!r}; write: {instead}"


_MODULES = sorted((_ROOT / "descheduler").rglob("*.py"))
_PAGES = sorted([*_ROOT.glob("*.md"), *(_ROOT / "docs").rglob("*.md"), *(_ROOT / "cronjob").rglob("*.md")])


@pytest.mark.parametrize("path", _MODULES, ids=lambda path: str(path.relative_to(_ROOT)))
def test_the_texts_of_the_program_are_in_plain_words(path: Path) -> None:
    assert list(faults(texts_of_code(path), str(path.relative_to(_ROOT)))) == []


@pytest.mark.parametrize("path", _PAGES, ids=lambda path: str(path.relative_to(_ROOT)))
def test_pages_are_in_plain_words(path: Path) -> None:
    assert list(faults(prose_of_page(path), str(path.relative_to(_ROOT)))) == []
