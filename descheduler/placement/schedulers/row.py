"""What the table of schedulers says of each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from descheduler.documents.document import Document
from descheduler.documents.problems import DocumentProblem
from descheduler.model.kube_version import KubeVersion

if TYPE_CHECKING:  # the table is read where a policy is checked, which imports no numpy
    from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
    from descheduler.placement.configuration.kube_scheduler.plugin_args import PluginSettings
    from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
    from descheduler.placement.framework.scheduler_model import SchedulerModel
    from descheduler.placement.shadow.shadow_cluster import ShadowCluster

Read = Callable[
    [Document, KubeVersion, "Mapping[str, PluginSettings]", Mapping[str, KubeVersion]], "SchedulerConfiguration"
]


class SchedulerRow(msgspec.Struct, frozen=True, kw_only=True):
    """A scheduler that pods name `name`.

    `read` gives what a document of kind `document_kind` says, for a version of Kubernetes, with the scheduling plugins
    that are known and what schedulers are made of by their names; None for one without documents of its own. Documents
    without a kind are told by `knows`, are called `document_name`, and `check` gives the warnings about one by itself,
    without numpy; it raises PolicyError. One whose releases differ has `run_as`: what `model` is given for a document
    of its own, or for none, and for a release, which raises ValueError where that is none.

    One that is made of kube-scheduler can have a `profile`, by which it runs where no document has one for it, and is
    `made_of` a version of its own, None for the cluster's. Any other has `model`, which makes it over a shadow cluster
    out of its configuration: what a document has for it among `others`, None without any.

    The pods of one that `is_assumed` are checked although no document and no policy names it. `reads_kinds` and
    `reads_annotations` are as in SchedulingPlugin: what the model reads beside its scheduling plugins, kinds as far as
    they are there and may be read. What planners may ask of it is `preference` of its model.
    """

    name: str
    document_kind: str = ""
    document_name: str = ""
    knows: Callable[[Document], bool] | None = None
    check: Callable[[Document], Sequence[DocumentProblem]] | None = None
    run_as: Callable[[Document | None, str], object] | None = None
    read: Read | None = None
    profile: Callable[[Mapping[str, PluginSettings]], SchedulerProfile] | None = None
    made_of: KubeVersion | None = None
    model: Callable[[ShadowCluster, Any], SchedulerModel] | None = None
    is_assumed: bool = False
    reads_kinds: frozenset[str] = frozenset()
    reads_annotations: tuple[str, ...] = ()
