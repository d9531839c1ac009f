"""The subjects of `descheduler explain`, a row each: CLI, help, completion, document and schema are made from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

_MODULES = "descheduler.explanation.subjects"


class SubjectType(msgspec.Struct, frozen=True):
    """A type as users write it, with its `short` forms, the usual one first.

    Things of a type without namespaces have names of one part. Of a type that `can_be_listed` all things are explained
    where no name is given. Where a type `has_several_api_groups`, users may say which one is meant.
    """

    name: str
    short: tuple[str, ...] = ()
    has_namespace: bool = True
    can_be_listed: bool = False
    has_several_api_groups: bool = False


class Subject(msgspec.Struct, frozen=True):
    """Something that can be explained. `field` is that of the document `Explanation`, and `about` says what it holds.

    `module` is the one that explains it, which is loaded when it is asked for, and whose value `SUBJECT` is an
    `Explained`. `help` is a paragraph of the command's help. A subject that does
    not need a cluster is explained without one where none is named.
    """

    field: str
    module: str
    types: tuple[SubjectType, ...]
    help: str
    about: str = ""
    needs_cluster: bool = True


SUBJECTS: tuple[Subject, ...] = (
    Subject(
        "pod",
        f"{_MODULES}.pod",
        (SubjectType("pod", ("po",)),),
        "pod/NAME -n NAMESPACE, or NAMESPACE/NAME: what the run decides about the pod and why, where its replacement "
        "would be scheduled, and why not on other nodes. For a pending pod: why it is pending.",
    ),
    Subject(
        "node",
        f"{_MODULES}.node.node",
        (SubjectType("node", ("no",), has_namespace=False),),
        "node/NAME: which pods are evicted and which are not, and why, which replacements are scheduled onto the node, "
        "and what blocks draining it.",
    ),
    Subject(
        "plugin",
        f"{_MODULES}.plugin",
        (SubjectType("plugin", has_namespace=False),),
        "plugin/NAME: what a plugin of a policy or of the scheduler does, its arguments, and which profiles run it; "
        "with a policy and with --snapshot, --kubeconfig or --context also what it decided.",
        needs_cluster=False,
    ),
    Subject(
        "group",
        f"{_MODULES}.group",
        (
            SubjectType("namespace", ("ns",), has_namespace=False),
            SubjectType("deployment", ("deploy",)),
            SubjectType("statefulset", ("sts",)),
            SubjectType("daemonset", ("ds",)),
            SubjectType("replicaset", ("rs",)),
            SubjectType("replicationcontroller", ("rc",)),
            SubjectType("job"),
            SubjectType("cronjob", ("cj",)),
        ),
        "deploy/NAME -n NAMESPACE, ns/NAME: what the run decides about each pod of the workload or namespace and why, "
        "and where its replacement would be scheduled, as a table.",
        about="the pods of a workload or a namespace",
    ),
    Subject(
        "quota",
        f"{_MODULES}.quota",
        (SubjectType("elasticquota", ("eq", "eqs"), has_namespace=False),),
        "elasticquota/NAME: what an elastic quota of Koordinator may use, what its pods use and request, and its "
        "children.",
    ),
    Subject(
        "reservation",
        f"{_MODULES}.reservation",
        (SubjectType("reservation", has_namespace=False),),
        "reservation/NAME: what a Reservation holds, which pods may use it and which do, and which pods wait for it.",
    ),
    Subject(
        "pod_group",
        f"{_MODULES}.pod_group",
        (SubjectType("podgroup", ("pg", "pgs"), has_several_api_groups=True),),
        "podgroup/NAME -n NAMESPACE: what a gang needs, its pods, and why pending ones are not scheduled. Where "
        "several API groups have a PodGroup of this name: podgroup.scheduling.volcano.sh/NAME.",
    ),
    Subject(
        "queue",
        f"{_MODULES}.queue",
        (SubjectType("queue", ("q",), has_namespace=False),),
        "queue/NAME: what a queue of Volcano deserves, may hold and holds, its jobs by phase, and why they are not "
        "admitted.",
    ),
    Subject(
        "device",
        f"{_MODULES}.device",
        (SubjectType("device", has_namespace=False),),
        "device/NODE: the devices of a node that Koordinator shares out, which pods have them, and why pending pods do "
        "not fit.",
    ),
    Subject(
        "migration_job",
        f"{_MODULES}.migration_job",
        (SubjectType("podmigrationjob", ("pmj",), has_namespace=False),),
        "podmigrationjob/NAME: which pod moves, how far that has come, and what is in its way.",
    ),
    Subject(
        "budgets",
        f"{_MODULES}.budget",
        (SubjectType("poddisruptionbudget", ("pdb", "budget", "budgets"), can_be_listed=True),),
        "budgets, pdb/NAME: what PodDisruptionBudgets allow now, from which figures, and why some can never allow an "
        "eviction; with -n NAMESPACE those of a namespace.",
    ),
)


def types_of(subjects: Sequence[Subject]) -> dict[str, tuple[SubjectType, Subject]]:
    """Every word for a type → what it is; the groups of the API may follow it, as in `deployment.apps`."""
    return {
        word: (kind, subject)
        for subject in subjects
        for kind in subject.types
        for word in (kind.name, f"{kind.name}s", *kind.short)
    }


def help_on(subjects: Sequence[Subject]) -> Iterator[str]:
    """The paragraphs of the command's help about what can be explained."""
    *types, last = [_named(kind) for subject in subjects for kind in subject.types]
    yield f"TYPE is written as for kubectl: {', '.join(types)} and {last}."
    yield from (subject.help for subject in subjects)


def _named(kind: SubjectType) -> str:
    return f"{kind.name} ({kind.short[0]})" if kind.short else kind.name
