"""The page about kinds of objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from descheduler.cluster.kind import AnyKind
from descheduler.cluster.kinds import KINDS
from docs.generator.markdown import page, table, wrapped
from docs.generator.read_rules import read_rules

_INTRODUCTION = """\
Nodes, pods and disruption budgets are read in every run, other kinds when a plugin of the policy needs them, or when a
dry run says where replacement pods would be scheduled. Nothing is read twice in a run, and nothing is watched.
[The snapshot](../explanation/snapshot.md) says what happens when a kind cannot be read."""

_RIGHTS = """\
A ServiceAccount that runs every policy needs these rules, and those of `cronjob/base/rbac.yaml` that evict. A kind that
the policy does not need is not read, even if it is listed here."""


_KUBECTL = """\
`descheduler snapshot` writes every kind, and of each object the fields that some rule or a scheduler reads. Secrets and
ConfigMaps are never read. A dump that kubectl takes has to name them, without those that the cluster
does not serve. A run assumes that there are none of a kind that its dump lacks, and says so in a warning."""


def make_page() -> str:
    """The whole page."""
    return page("Kinds of objects", _lines())


def _lines() -> Iterator[str]:
    yield from wrapped(_flat(_INTRODUCTION))
    yield from _table(KINDS.values())
    yield "## Dumps of kubectl"
    yield ""
    yield from wrapped(_flat(_KUBECTL))
    yield from ("```sh", *_kubectl(), "```", "")
    yield "## Rights"
    yield ""
    yield from wrapped(_flat(_RIGHTS))
    yield from ("```yaml", *read_rules(), "```", "")


def _kubectl() -> Iterator[str]:
    """The command, with the kinds that a cluster may lack on a line of their own."""
    always, optional = (
        ",".join(kind.resource for kind in KINDS.values() if kind.is_optional is is_optional)
        for is_optional in (False, True)
    )
    yield f"kinds={always}"
    yield f"kinds=$kinds,{optional}"
    yield "kubectl get $kinds -A -o json > dump.json"


def _table(kinds: Iterable[AnyKind]) -> Iterator[str]:
    rows = [[f"`{kind.name}`", f"`{kind.api_version}`", _need(kind), kind.purpose] for kind in kinds]
    yield from table(("Kind", "API", "A cluster may lack it", "What it says"), rows)


def _need(kind: AnyKind) -> str:
    if kind.is_measured:
        return "yes, or fail to serve it"
    return "yes" if kind.is_optional else "no"


def _flat(text: str) -> str:
    return text.replace("\n", " ")
