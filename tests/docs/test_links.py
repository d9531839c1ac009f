from __future__ import annotations

from pathlib import Path

from tests.docs.pages import ROOT, anchors, links, pages


def test_every_relative_link_leads_somewhere() -> None:
    relative = [(page, link) for page in pages() for link in links(page) if "://" not in link]

    assert [(page, link) for page, link in relative if not _leads_somewhere(page, link)] == []


def test_every_page_of_the_docs_is_linked_from_the_readme() -> None:
    linked = {(ROOT / link.partition("#")[0]).resolve() for link in links(ROOT / "README.md")}

    assert [page for page in pages() if page not in linked and page.name != "README.md"] == []


def _leads_somewhere(page: Path, link: str) -> bool:
    path, _, fragment = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    return target.exists() and (not fragment or fragment in anchors(target))
