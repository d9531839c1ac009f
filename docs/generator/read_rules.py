"""The rules of a role that may read every kind, for the reference and for the manifests."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from descheduler.cluster.kinds import KINDS

_BEGIN = "  # The rules down to the next comment are generated from the table of kinds by `python -m docs.generate`.\n"
_END = "  # End of the generated rules.\n"
_CORE = '""'
_WIDTH = 110


def read_rules() -> Iterator[str]:
    """The lines of the rules, those of kinds that every cluster has ahead."""
    plurals: dict[tuple[bool, str], list[str]] = {}
    for kind in KINDS.values():
        plurals.setdefault((kind.is_optional, kind.group), []).append(kind.plural)
    for (_, group), names in sorted(plurals.items(), key=lambda rule: rule[0][0]):
        yield f"- apiGroups: [{group or _CORE}]"
        yield from textwrap.wrap(f"  resources: [{', '.join(names)}]", _WIDTH, subsequent_indent="    ")
        yield "  verbs: [list]"


def with_read_rules(manifest: str) -> str:
    """`manifest` with the rules that it holds between two comments made again. Raises ValueError without these."""
    before, begin, rest = manifest.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not (begin and end):
        raise ValueError(f"no comments {_BEGIN.strip()!r} and {_END.strip()!r}")
    return "".join((before, begin, *(f"  {line}\n" for line in read_rules()), end, after))
