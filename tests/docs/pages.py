"""What the pages of the documentation hold: links, code blocks, commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

_WITH_A_PACKAGE = "own-plugins"
"""The page whose policy names a plugin of a package, with which `test_own_plugins` loads it."""

ROOT = Path(__file__).parents[2]

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def pages() -> list[Path]:
    """README, CHANGELOG, CONTRIBUTING, SECURITY and everything below docs."""
    at_the_top = [ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY")]
    return [*at_the_top, *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of one language."""
    return [text for found, text in _BLOCK.findall(page.read_text("utf-8")) if found == language]


def shown_policies() -> Iterator[tuple[str, str]]:
    """The policies that pages show, each with a name; without the one of a plugin that a package brings."""
    for page in pages():
        if page.stem != _WITH_A_PACKAGE:
            for index, block in enumerate(blocks(page, "yaml")):
                if "apiVersion: descheduler/v1alpha2" in block:
                    yield f"{page.stem}-{index}", block


def spans(page: Path) -> list[str]:
    """Code within sentences and tables."""
    return _SPAN.findall(_BLOCK.sub("", page.read_text("utf-8")))


def links(page: Path) -> list[str]:
    """The targets of all links."""
    return _LINK.findall(_BLOCK.sub("", page.read_text("utf-8")))


def anchors(page: Path) -> set[str]:
    """The fragments that lead to headings of the page."""
    headings = _HEADING.findall(_BLOCK.sub("", page.read_text("utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(page: Path) -> Iterator[list[str]]:
    """The arguments of every call of the program, in shell blocks and in code within sentences."""
    lines = [line for block in blocks(page, "sh") for line in block.replace("|\n", "| ").splitlines()]
    for line in [*lines, *spans(page)]:
        for part in line.partition("#")[0].split(" | "):
            if part.split()[:1] == ["descheduler"]:
                yield shlex.split(part.partition(">")[0])[1:]
