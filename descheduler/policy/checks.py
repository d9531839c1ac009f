"""What every kind of policy document is checked for, and where the findings go."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path as FilePath

import msgspec

from descheduler.documents.decode import Decoder, Path
from descheduler.documents.document import Document, TreeNode, find
from descheduler.documents.problems import DocumentProblem, did_you_mean, shown
from descheduler.policy.plugin import ReadSchedulerFile, SchedulerFile, scheduler_file_reader
from descheduler.policy.shared_args import int_or_percent_fault
from descheduler.policy.types import COMPATIBILITIES, Compatibility


class Checks(msgspec.Struct, frozen=True):
    """Findings by stage: `load` keeps a document from loading, `build` keeps its plugins from being built."""

    load: Decoder
    build: Decoder
    scheduler_files: dict[str, SchedulerFile] = msgspec.field(default_factory=dict)
    """What was read of the files that the document names, by path."""
    folder: FilePath | None = None
    """Where the document was read from; None for one that came in no file."""

    @classmethod
    def of(cls, document: Document, folder: FilePath | None = None) -> Checks:
        """Empty findings for `document`."""
        return cls(Decoder(document), Decoder(document), folder=folder)

    @property
    def read_scheduler_file(self) -> ReadSchedulerFile:
        """Reads a file that the document names, once."""
        return scheduler_file_reader(self.scheduler_files, self.folder)

    def node(self, path: Path) -> TreeNode:
        """The node at `path` of the document, or the nearest one above it."""
        return find(self.load.document.root, path)

    def args_node(self, given: object, path: Path) -> TreeNode:
        """The arguments that the entry at `path` has; null at its place where it has none."""
        return given if isinstance(given, TreeNode) else TreeNode(None, self.node(path).mark)

    def fail_load(self, path: Path, message: str) -> None:
        """Record a problem of loading at `path`."""
        self.load.problem(path, self.node(path).mark, message)

    def fail_build(self, path: Path, message: str) -> None:
        """Record a problem of building plugins at `path`."""
        self.build.problem(path, self.node(path).mark, message)

    def warn(self, path: Path, message: str) -> None:
        """Record a warning at `path`."""
        self.load.warn(path, self.node(path).mark, message)

    def warnings(self) -> tuple[DocumentProblem, ...]:
        """All warnings, in document order."""
        return in_order([*self.load.warnings, *self.build.warnings])


def in_order(problems: Iterable[DocumentProblem]) -> tuple[DocumentProblem, ...]:
    """`problems` by place; those of the whole document come first.

    What is said about a field, or a part of it, at a place where the field already has a problem is left out: it is
    usually the consequence, as a name that is no string is an unknown name, too.
    """
    kept: dict[tuple[int, int], list[DocumentProblem]] = {}
    for problem in problems:
        here = kept.setdefault((problem.line or 0, problem.column or 0), [])
        if not any(_covers(earlier.field, problem.field) for earlier in here):
            here.append(problem)
    return tuple(problem for place in sorted(kept) for problem in kept[place])


def _covers(field: str, other: str) -> bool:
    return field == other or bool(field and other.startswith((f"{field}.", f"{field}[")))


def check_eviction_limits(checks: Checks, section: msgspec.Struct) -> None:
    """Records limits on evictions of a document that are texts and no percentages."""
    for field in msgspec.structs.fields(section):
        fault = int_or_percent_fault(getattr(section, field.name)) if field.name.startswith("max_no_of_pods") else ""
        if fault:
            checks.fail_load((field.encode_name,), fault)


def compatibility_of(checks: Checks, text: str, default: Compatibility) -> Compatibility:
    """The value of our own top-level field `compatibility`; a wrong one is recorded."""
    if not text:
        return default
    for mode in COMPATIBILITIES:
        if text == mode:
            return mode
    hint = did_you_mean(text, COMPATIBILITIES)
    checks.fail_load(("compatibility",), f"{shown(text)} is not one of {', '.join(COMPATIBILITIES)}{hint}")
    return default
