"""The entry to explanations: a question in, by whom pods are placed, and the document `Explanation` out."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import msgspec
from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.round import RunSetting
from descheduler.documents.fields import Fields
from descheduler.eviction.placement_verification.placement_verification import scheduling_settings, verification_args
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.explanation.asked import Inquiry, explained_by
from descheduler.model.kube_version import KubeVersion
from descheduler.model.text.printable import printable
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.schedulers.configured import load_configuration
from descheduler.policy.types import Policy
from descheduler.report.document import API_VERSION, ApiVersion, PolicyIdentity, SnapshotIdentity
from descheduler.report.formats.render import TabledDocument
from descheduler.report.identities import policy_identity, snapshot_identity
from descheduler.report.subjects import SUBJECTS, Subject, types_of
from descheduler.report.tables.head_line import cluster_part, policy_part, time_part
from descheduler.report.tables.table_style import TableStyle

_WIDTH, _INDENT = 116, "    "
_OTHER_FIELDS = """
    `policy` is null without a policy, `snapshot` without a cluster or a dump. `now` is the instant that all ages
    were taken at."""


class Explanation(TabledDocument, frozen=True):
    """What all explanations have. The types that `explanation_type` makes have a field a subject besides."""

    api_version: ApiVersion
    kind: Literal["Explanation"]
    now: datetime
    policy: PolicyIdentity | None
    snapshot: SnapshotIdentity | None
    subjects: ClassVar[Sequence[Subject]] = ()
    if TYPE_CHECKING:  # the last field, after those of the subjects
        warnings: tuple[str, ...]

    @property
    def answer(self) -> Fields:
        """What is said about the subject."""
        return next(part for _, part in self._parts())

    def head(self) -> Sequence[str]:
        """Which policy, cluster or dump and time it is about; nothing where it is about neither."""
        if self.policy is None and self.snapshot is None:
            return ()
        policy = "none" if self.policy is None else self.policy.path
        return policy_part(policy), cluster_part(self.snapshot), time_part(self.now)

    def table(self, style: TableStyle) -> Iterator[str]:
        """Lines that show what was asked about, and last what the answer leaves out of account."""
        for subject, part in self._parts():
            yield from explained_by(subject).table(part, style)
        left_out = () if self.snapshot is None else self.snapshot.skipped_objects
        for warning in (*self.warnings, *(f"left out: {sentence}" for sentence in left_out)):
            yield style.palette.warning(f"warning: {printable(warning)}")

    def _parts(self) -> Iterator[tuple[Subject, Fields]]:
        for subject in self.subjects:
            part: Fields | None = getattr(self, subject.field)
            if part is not None:
                yield subject, part


@cache
def explanation_type(subjects: tuple[Subject, ...] = SUBJECTS) -> type[Explanation]:
    """The type of the document: a field for each of `subjects`, of which one is set, and the warnings."""
    parts = [(subject.field, explained_by(subject).document | None) for subject in subjects]
    made = msgspec.defstruct(
        "Explanation",
        [*parts, ("warnings", tuple[str, ...])],
        bases=(Explanation,),
        namespace={"__doc__": f"{_fields_in_words(subjects)}\n{_OTHER_FIELDS}", "subjects": subjects},
        frozen=True,
        kw_only=True,
    )
    return cast("type[Explanation]", made)


def _fields_in_words(subjects: Sequence[Subject]) -> str:
    """Where the subject is; a field that needs words comes last."""
    *others, last = sorted(subjects, key=lambda subject: bool(subject.about))
    about = f"`{last.field}`, {last.about}" if last.about else f"`{last.field}`"
    fields = f"{', '.join(f'`{subject.field}`' for subject in others)} and {about}"
    return textwrap.fill(f"The subject, in one of {fields}; the others are null.", _WIDTH, subsequent_indent=_INDENT)


def explain(
    type_name: str,
    name: str,
    cluster: Snapshot | None,
    *,
    policy: Policy | None,
    settings: SchedulingSettings,
    now: datetime,
    setting: RunSetting | None = None,
    subjects: tuple[Subject, ...] = SUBJECTS,
) -> Explanation:
    """What a run of `policy` with `setting` decides in `cluster` about the `type_name` called `name`, and why.

    What is in a namespace is called `namespace/name`; a name alone will do where no other namespace has it. Raises
    UnknownSubjectError when there is none of that name, PolicyError as `decide` does.
    """
    _, subject = types_of(subjects)[type_name]
    part, warnings = explained_by(subject).answer(Inquiry(type_name, name, cluster, policy, settings, now, setting))
    fields: dict[str, Any] = {each.field: part if each is subject else None for each in subjects}
    return explanation_type(subjects)(
        api_version=API_VERSION,
        kind="Explanation",
        now=now,
        policy=None if policy is None else policy_identity(policy),
        snapshot=None if cluster is None else snapshot_identity(cluster, now),
        warnings=(
            *(() if policy is None else map(str, policy.warnings)),
            *(() if cluster is None else cluster.warnings),
            *warnings,
        ),
        **fields,
    )


def settings_for(
    policy: Policy | None,
    *,
    configuration_file: Path | None = None,
    version: KubeVersion | None = None,
    cluster_version: KubeVersion | None = None,
) -> SchedulingSettings:
    """What the operator says, else what PlacementVerification says in the first profile that runs it.

    Without both it is kube-scheduler as it comes, of the version of the cluster or else the newest one. Raises
    PolicyError for a configuration that cannot be read.
    """
    settings = _of_policy(policy, cluster_version) or SchedulingSettings(version=cluster_version or KubeVersion())
    if version is not None:
        settings = replace(settings, version=version)
    if configuration_file is None:
        return settings
    configuration = load_configuration(configuration_file, settings.version, PLUGINS)
    return replace(settings, configuration=configuration)


def _of_policy(policy: Policy | None, cluster_version: KubeVersion | None) -> SchedulingSettings | None:
    if policy is None:
        return None
    for profile in policy.profiles:
        args = verification_args(profile)
        if args is not None:
            return scheduling_settings(args, policy.scheduler_files, cluster_version)
    return None
