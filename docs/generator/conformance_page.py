"""The page about conformance: how many recorded decisions of the reference come out the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from docs.generator.markdown import page

__all__ = ["make_page"]

_INTRODUCTION = """\
Cases recorded on kubernetes-sigs/descheduler 0.36 (commit 7d2b28bf2, Kubernetes libraries 0.36.1), run against this
program: passed of all, by plugin and kind of case. `unit` cases come from the reference's own unit tests,
`differential` ones from generated clusters and policies. Which recorded expectation is followed stands in
[Compatibility](../explanation/compatibility.md).

Run them with

```sh
.venv/bin/python -m tests.conformance tests/conformance/vectors/*.jsonl.gz
```

`python -m docs.generate --conformance` writes this page anew; further files can be named after the flag."""


def make_page(files: Sequence[Path]) -> str:
    """The whole page, from running all cases in `files`."""
    return page("Conformance", _lines(files))


def _lines(files: Sequence[Path]) -> Iterator[str]:
    # The runner belongs to the tests; no other page needs them.
    from tests.conformance.runner import WITHOUT_COUNTERPART, Tally, read_vectors

    tally = Tally()
    for vector in read_vectors(files):
        tally.add(vector)
    yield _INTRODUCTION
    yield ""
    passed, failed = sum(tally.passed.values()), sum(tally.failed.values())
    yield f"{passed} of {passed + failed} cases of {', '.join(f'`{file.name}`' for file in files)} pass."
    yield ""
    yield tally.table()
    yield ""
    if tally.without_counterpart:
        yield "Not run, because this program has no such function:"
        yield ""
        for function, count in sorted(tally.without_counterpart.items()):
            yield f"- `{function}` ({count}): {WITHOUT_COUNTERPART[function]}"
