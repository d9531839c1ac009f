"""Folders and modules that pages name are there, and the rooms of the package are all in their table."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.pages import ROOT, pages, spans

_PACKAGE = ROOT / "descheduler"
_WITH_A_PACKAGE = "own-plugins"
"""The page that also names files of the reader's own package."""
_PATH = re.compile(r"[\w.\-*]+(/[\w.\-*]+)*/?")
_QUOTED = re.compile(r"\"([\w./-]+)\"")
_MODULE = re.compile(r"(descheduler|tests|docs)(\.\w+)+")
_ROW = re.compile(r"^\| (`\w+/`(?:, `\w+/`)*) \|", re.MULTILINE)


def test_every_named_folder_and_module_exists() -> None:
    named = [
        (page, span)
        for page in _pages()
        for span in spans(page)
        if _is_path(span) and (page.stem != _WITH_A_PACKAGE or span.startswith("descheduler/"))
    ]
    missing = [(page.name, span) for page, span in named if not _is_there(span)]
    keys = _strings_of_the_package() if missing else frozenset()

    assert named
    assert [(page, span) for page, span in missing if span not in keys] == []


def test_every_named_python_module_exists() -> None:
    named = [(page, span) for page in _pages() for span in spans(page) if _MODULE.fullmatch(span)]

    assert named
    assert [(page.name, span) for page, span in named if not _is_module(span)] == []


def test_the_table_of_rooms_has_every_folder_of_the_package() -> None:
    page = ROOT / "docs" / "explanation" / "code.md"
    rooms = {path.name for path in _PACKAGE.iterdir() if (path / "__init__.py").exists()}

    listed = {name for row in _ROW.findall(page.read_text("utf-8")) for name in re.findall(r"\w+", row)}

    assert listed == rooms


def test_a_path_that_has_moved_is_found() -> None:
    assert [_is_there(name) for name in ("kube/client.py", "kube/http/", "budgets.py", "job_order.py")] == [
        True,
        False,
        True,
        False,
    ]


def _pages() -> list[Path]:
    """All pages but the changelog, which names what was there at its time."""
    return [page for page in pages() if page.name != "CHANGELOG.md"]


def _strings_of_the_package() -> frozenset[str]:
    """All that modules quote: keys of annotations and API versions look like paths too."""
    return frozenset(text for path in _PACKAGE.rglob("*.py") for text in _QUOTED.findall(path.read_text("utf-8")))


def _is_path(span: str) -> bool:
    """Whether it names a module, or something below a folder of the repository or of the package.

    What is below build/ is made by commands, and there after them alone.
    """
    first, slash, _ = span.partition("/")
    if not _PATH.fullmatch(span) or first == "build":
        return False
    return span.endswith(".py") or bool(slash and any((start / first).is_dir() for start in (ROOT, _PACKAGE)))


def _is_there(span: str) -> bool:
    starts = (ROOT, _PACKAGE)
    if "/" not in span:
        return any(any(start.rglob(span)) for start in (ROOT / "docs", ROOT / "tests", _PACKAGE))
    return any(any(start.glob(span.rstrip("/"))) for start in starts)


def _is_module(name: str) -> bool:
    """Whether it is a module, a package, or a name in one of them."""
    path = ROOT.joinpath(*name.split("."))
    if path.is_dir() or path.with_suffix(".py").exists():
        return True
    holder = path.parent / "__init__.py" if path.parent.is_dir() else path.parent.with_suffix(".py")
    return holder.exists() and re.search(rf"\b{path.name}\b", holder.read_text("utf-8")) is not None
