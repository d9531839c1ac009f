"""Which nodes DrainNodes is about: those that its arguments name, select or have in a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from descheduler.documents.document import Document
from descheduler.documents.problems import PolicyError, shown
from descheduler.model.names import is_subdomain
from descheduler.model.node import Node
from descheduler.model.text.printable import printable
from descheduler.planner.args import MigrationPlannerArgs
from descheduler.planner.objective_args import DrainNodesArgs
from descheduler.planner.unmatched_selector import unmatched_selector
from descheduler.policy.plugin import ArgsProblem, ReadSchedulerFile, SchedulerFile
from descheduler.policy.shared_args import compile_selector

_AS_PRINTED = "node/"
"""What `kubectl get nodes -o name` puts before each name."""


class NamedNode(msgspec.Struct, frozen=True):
    """One node that arguments name, and `place`, the key or the line of the file that names it."""

    name: str
    place: str


def named_nodes(args: DrainNodesArgs, files: Mapping[str, SchedulerFile]) -> Iterator[NamedNode]:
    """The nodes that `args` name, in `nodes` or in a file, whether they exist or not."""
    yield from (NamedNode(name, "drainNodes.nodes") for name in args.nodes)
    if args.nodes_file in files:
        yield from _lines(files[args.nodes_file].document)


def selected_nodes(args: DrainNodesArgs, nodes: Sequence[Node], files: Mapping[str, SchedulerFile]) -> frozenset[str]:
    """The names of those of `nodes` that are to be drained."""
    names = {named.name for named in named_nodes(args, files)}
    selector = compile_selector(args.node_selector)
    conditions = frozenset(args.conditions)
    return frozenset(
        node.name
        for node in nodes
        if node.name in names
        or (selector is not None and selector.matches(node.labels))
        or not conditions.isdisjoint(node.true_conditions)
    )


def unmatched_text(args: DrainNodesArgs, nodes: Sequence[Node]) -> str:
    """Such as `drainNodes.nodeSelector (pool in (old)): 0 of 5 nodes match`; empty if a node matches it."""
    return unmatched_selector("drainNodes.nodeSelector", args.node_selector, nodes)


def cordoned_nodes(
    args: MigrationPlannerArgs, nodes: Sequence[Node], files: Mapping[str, SchedulerFile]
) -> frozenset[str]:
    """The names of those of `nodes` that are cordoned before the first eviction."""
    drains = (objective.drain_nodes for objective in args.objectives)
    found = (selected_nodes(drain, nodes, files) for drain in drains if drain is not None and drain.cordon)
    return frozenset().union(*found)


def file_problems(args: MigrationPlannerArgs, read: ReadSchedulerFile) -> list[ArgsProblem]:
    """What is wrong with files that name nodes, which are read with the policy."""
    found = list[ArgsProblem]()
    for number, objective in enumerate(args.objectives):
        path = objective.drain_nodes.nodes_file if objective.drain_nodes is not None else ""
        if path:
            found += [
                ArgsProblem(("objectives", number, "drainNodes", "nodesFile"), text) for text in _faults(path, read)
            ]
    return found


def _faults(path: str, read: ReadSchedulerFile) -> Iterator[str]:
    try:
        document = read(path, lists_nodes=True).document
    except PolicyError as error:
        yield str(error)
        return
    if document.form != "lines":
        yield f"{printable(path)}: is a scheduler configuration of this policy, not a list of nodes"
        return
    names = list(_lines(document))
    if not names:
        yield f"{document.path}: names no node; write the name of one node on each line"
    for named in names:
        if not is_subdomain(named.name):
            yield f"{named.place}: {shown(named.name)} is not the name of a node; write one name on each line"


def _lines(document: Document) -> Iterator[NamedNode]:
    items = document.root.value if isinstance(document.root.value, tuple) else ()
    for item in items:
        line = "" if item.mark is None else f":{item.mark.line}"
        yield NamedNode(str(item.value).removeprefix(_AS_PRINTED), f"{document.path}{line}")
