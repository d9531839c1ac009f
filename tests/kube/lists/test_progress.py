from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterable

import pytest

from descheduler.kube.lists.body import ListPage
from descheduler.kube.lists.listing import ListProgress
from descheduler.transport.errors import ExchangeError


def page(token: str, first: str) -> ListPage:
    return ListPage(b"", token, "1", "PodList", first.encode())


def note_all(progress: ListProgress, pages: Iterable[ListPage]) -> None:
    for each in pages:
        progress.note(each)


@pytest.mark.parametrize(
    ("nth", "why"),
    [
        pytest.param(lambda n: page("same", f"pod {n}"), "after page 2: .* same continue token", id="one token"),
        pytest.param(lambda n: page(f"{n % 3}", f"pod {n}"), "after page 4: .* same continue token", id="three tokens"),
        pytest.param(lambda n: page(f"{n}", "pod"), "after page 2: .* same objects again", id="one page"),
        pytest.param(lambda n: page(f"{n}", f"pod {n % 2}"), "after page 3: .* same objects again", id="two pages"),
        pytest.param(lambda n: page(f"{n}", ""), "after page 100: .* without objects", id="empty pages"),
        pytest.param(lambda n: page(f"{n}", f"{n}"), "after page 10000: .* one more page", id="always something new"),
    ],
)
def test_list_without_end_is_noticed(nth: Callable[[int], ListPage], why: str) -> None:
    progress = ListProgress("pods")

    with pytest.raises(ExchangeError, match=f"list of pods has no end {why}"):
        note_all(progress, map(nth, range(20_000)))


def test_empty_pages_between_others_are_taken() -> None:
    """A server that looks through a page's number of objects for those that match a selector may find none there."""
    progress = ListProgress("pods")

    note_all(progress, (page(f"{n}", f"pod {n}" if n % 90 == 0 else "") for n in range(999)))

    progress.note(page("", "last"))


def test_large_objects_and_tokens_are_not_kept() -> None:
    progress = ListProgress("pods")
    tracemalloc.start()
    for number in range(50):
        large = f"{number}".zfill(1 << 20)
        progress.note(ListPage(b"", large, "7", first=large.encode()))
    kept_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert kept_bytes < 10 << 20
