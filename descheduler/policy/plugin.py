"""What the policy layer knows of a plugin: its name, its arguments and where it may be enabled.

Scheduler configurations and lists of nodes that a policy names by file: read once, together with the policy.

What a configuration says hangs on the version of the scheduler, which only the cluster may tell, so that the document
is kept and `scheduler_configuration` makes sense of it later without reading anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

import msgspec

from descheduler.documents.document import Document
from descheduler.documents.problems import dotted
from descheduler.documents.source import digest_of, read_document, read_lines
from descheduler.model.node import Node


class SchedulerFile(msgspec.Struct, frozen=True):
    """One file as it was when the policy was read; `path` is how the policy spells it."""

    path: str
    document: Document
    digest: str
    """SHA-256 of the document, independent of layout, comments and the order of keys."""


class ReadSchedulerFile(Protocol):
    """Reads the files that a policy names."""

    def __call__(self, path: str, *, lists_nodes: bool = False) -> SchedulerFile:
        """The file at a path, of which each line is a name where it `lists_nodes`. Raises PolicyError without one."""


def scheduler_file_reader(files: dict[str, SchedulerFile], folder: Path | None = None) -> ReadSchedulerFile:
    """A reader that looks into `files` first and keeps there what it reads, so that a run knows one content of each.

    A path that is not absolute starts from `folder`, that of the policy file: symbolic links are not followed for that,
    as the files of a mounted ConfigMap are links into a folder that changes. Without one, for a policy that came in no
    file, it starts from the working directory.
    """

    def read(path: str, *, lists_nodes: bool = False) -> SchedulerFile:
        if path not in files:
            place = Path(path) if folder is None else folder / path
            name = path if str(place) == path else f"{path} (relative to the policy file: {place})"
            read_one, noun = (read_lines, "node list") if lists_nodes else (read_document, "scheduler configuration")
            document = read_one(place, name, noun)
            files[path] = SchedulerFile(path, document, digest_of(document))
        return files[path]

    return read


ExtensionPoint = Literal["deschedule", "balance", "filter", "preEvictionFilter", "evict"]
"""Where a plugin takes part in a cycle."""

ArgsT = TypeVar("ArgsT", bound=msgspec.Struct)


class ArgsProblem(msgspec.Struct, frozen=True):
    """One fault in a plugin's arguments; the loader adds the file, the line and the column."""

    path: tuple[str | int, ...]
    """Keys and list positions below `args`, in YAML spelling; empty for the arguments as a whole. A tuple, because
    resource names such as `nvidia.com/gpu` hold dots."""
    message: str

    @property
    def field(self) -> str:
        """The dotted form of `path`."""
        return dotted(self.path)


class Needs(msgspec.Struct, frozen=True):
    """What is read of a cluster beyond nodes and pods. `kinds` are keys of the table in `cluster.kinds`; `wanted_kinds`
    are read as far as they may be."""

    kinds: frozenset[str] = frozenset()
    wanted_kinds: frozenset[str] = frozenset()
    pod_conditions: bool = False
    """The bulkiest part of a pod that is unique to it."""
    pod_templates: bool = False
    """The templates of workloads, as large as pods."""
    annotations: frozenset[str] = frozenset()
    """Keys of annotations of pods and nodes beside those that are always known; all of a domain for one that ends with
    `/`."""

    def __or__(self, other: Needs) -> Needs:
        """What either needs."""
        return Needs(
            kinds=self.kinds | other.kinds,
            wanted_kinds=self.wanted_kinds | other.wanted_kinds,
            pod_conditions=self.pod_conditions or other.pod_conditions,
            pod_templates=self.pod_templates or other.pod_templates,
            annotations=self.annotations | other.annotations,
        )


class PluginSpec(msgspec.Struct, Generic[ArgsT], frozen=True, kw_only=True):
    """One row of the plugin table.

    `validate` sees the arguments as decoded, before `defaults` fills them, as the reference does. What it finds stops
    the policy from loading; what `construction_problems` finds only stops the plugin from being built.
    """

    name: str
    args_type: type[ArgsT]
    """A frozen Struct whose fields carry their YAML spelling (`rename="camel"`); all have the zero value as default."""
    extension_points: frozenset[ExtensionPoint]
    factory: Callable[[ArgsT, Any], object]
    """Builds the plugin from its arguments and the cycle's handle; the policy layer never calls it."""
    validate: Callable[[ArgsT], Sequence[ArgsProblem]] = lambda args: ()
    defaults: Callable[[ArgsT], ArgsT] = lambda args: args
    construction_problems: Callable[[ArgsT], Sequence[ArgsProblem]] = lambda args: ()
    file_problems: Callable[[ArgsT, ReadSchedulerFile], Sequence[ArgsProblem]] = lambda args, read: ()
    """As `construction_problems`, of files that the arguments name: it reads them, and nothing reads them later."""
    warnings: Callable[[ArgsT], Sequence[ArgsProblem]] = lambda args: ()
    """The arguments of an enabled plugin that have no effect, or not the expected one."""
    creates_reservations: Callable[[ArgsT], bool] = lambda args: False
    """Whether a plugin that evicts holds room for replacement pods by Reservations."""
    profile_problems: Callable[[ArgsT, bool], Iterable[ArgsProblem]] = lambda args, has_reservations: ()
    """As `construction_problems`, told whether a plugin of the profile creates Reservations."""
    beside: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Other plugins that, in the same profile, keep this one from doing what it is for → the warning that says so."""
    uses: Callable[[ArgsT], Mapping[tuple[str | int, ...], str]] | None = None
    """Other strategies of the profile that the plugin runs by itself, by the path below `args` that names them. They
    need their own entry of `pluginConfig` as if they were enabled."""
    needs: Callable[[ArgsT], Needs] = lambda args: Needs()
    """What the plugin reads with these arguments."""
    samples: Callable[[ArgsT], Iterable[str]] = lambda args: ()
    """Queries of Prometheus whose answers for nodes, or for pods by `namespace/name`, the plugin reads."""
    samples_address: Callable[[ArgsT], str] = lambda args: ""
    """The Prometheus that the plugin asks in place of that of the policy; empty for the latter."""
    without_limits: Callable[[ArgsT], ArgsT] = lambda args: args
    """The arguments without limits of their own on evictions."""
    cordons: Callable[[ArgsT, Sequence[Node], Mapping[str, SchedulerFile]], frozenset[str]] = (
        lambda args, nodes, files: frozenset()
    )
    """The names of those nodes that a run cordons before its first eviction, and that count as unschedulable while it
    decides. Told the nodes that the profile processes, and the files that the policy names."""
    counts_all_shards: bool = False
    """Whether a shard of the cluster has to hand the plugin the nodes of all shards, since it counts pods over all."""
    remembers: bool = False
    """Whether the plugin leaves something for its next run, which has to be kept for it."""
    searches: bool = False
    """Whether the plugin searches for a plan, which takes long. Whatever decides over the same snapshot once more asks
    for the moves of that plan in place of another search."""
    native: bool = False
    """Whether the arguments are an API kind of their own (`<name>Args`), known only to a DeschedulerConfiguration."""


Registry: TypeAlias = Mapping[str, PluginSpec[Any]]
"""The plugins of this program by name; always passed as an argument."""
