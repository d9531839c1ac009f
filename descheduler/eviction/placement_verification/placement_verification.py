"""Plugin PlacementVerification: blocks the eviction of pods whose replacement cannot be scheduled.

An own plugin of this program, at the extension point preEvictionFilter; by default it is part of every profile of a
DeschedulerConfiguration and of no profile of a DeschedulerPolicy.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.problems import PolicyError
from descheduler.eviction.handle import Handle
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.eviction.request_check import PodByPod
from descheduler.model.groups.gangs import OTHER_POD_GROUPS
from descheduler.model.kube_version import KubeVersion, KubeVersionError
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Verdict
from descheduler.placement.schedulers.table import ASSUMED, SCHEDULERS
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.policy.plugin import ArgsProblem, Needs, ReadSchedulerFile, SchedulerFile
from descheduler.policy.shared_args import Args, LabelSelectorArg, check_selector, one_of
from descheduler.policy.types import Policy, Profile

REFUSE, _ALLOW, REFUSE_BALANCE, EVICT_GANG = "refuse", "allow", "refuseBalance", "evictGang"
_CHOICES = (REFUSE, _ALLOW)
_RETURN_CHOICES = (REFUSE, REFUSE_BALANCE, _ALLOW)
_GANG_CHOICES = (REFUSE, EVICT_GANG)


class PlacementVerificationArgs(Args, frozen=True):
    """Arguments of PlacementVerification."""

    on_unknown: Annotated[str, one_of(_CHOICES)] = ""
    """`refuse` (the default) or `allow` evictions whose verdict is `likely` or `unknown`, such as pods with resource
    claims or of a scheduler that is not modelled. The verdict `no` is always refused."""
    on_conditional: Annotated[str, one_of(_CHOICES)] = ""
    """`refuse` (the default) or `allow` evictions whose replacement can be scheduled only under a condition, which the
    plan shows."""
    on_return_to_source: Annotated[str, one_of(_RETURN_CHOICES)] = ""
    """What to do when the replacement would be scheduled onto the same node again: `refuseBalance` (the default)
    refuses it to plugins that balance nodes, `refuse` to all plugins, `allow` to none."""
    require_gain: bool = True
    """Whether a pod is evicted only if its plugin would not select the replacement again for the same cause, on any of
    the predicted nodes, those of equal score included. Pending pods and replacement pods of earlier evictions can be
    scheduled in another order or onto other nodes of equal score, which is taken into account. LowNodeLoad and
    MigrationPlanner judge the gain themselves."""
    on_gang_minimum: Annotated[str, one_of(_GANG_CHOICES)] = ""
    """What to do with a pod whose gang would have fewer pods than it needs (minMember of its PodGroup, or the
    annotation min-available): `refuse` (the default) refuses it; `evictGang` evicts all pods of its gang, and of the
    gangs of its group, at once or not at all. Each of them must pass filters, limits and budgets, and the replacements
    must be scheduled together. This restarts the job that the gang runs."""
    disposable_pods: LabelSelectorArg | None = None
    """Pods that may be evicted although their replacement cannot be scheduled (the verdict `no`), for example batch
    work that can wait: the replacement stays pending until there is room. MigrationPlanner plans with it."""
    scheduler_names: tuple[str, ...] = ()
    """Schedulers whose pods are checked although `schedulerConfigFile` has no profile for them; `koord-scheduler` when
    empty. koord-scheduler runs the plugins of Koordinator's manifest, any other the first profile of the file; pods
    that use what a scheduler does not run or what is not modelled are `likely` at best. Pods of `volcano` are always
    checked."""
    scheduler_config_file: str = ""
    """Path of the scheduler's KubeSchedulerConfiguration or of Volcano's `volcano-scheduler.conf`, also inside a
    ConfigMap as `kubectl get configmap -o yaml` prints it; the defaults of each scheduler when empty. A relative path
    starts from the folder of the policy file."""
    scheduler_versions: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Releases of schedulers that are not made of kube-scheduler, by their names: `volcano: "1.14"`. Volcano is 1.10
    when it is not named; replacement pods of a later release are `likely` at best."""
    kube_version: str = ""
    """Version of the cluster's scheduler, such as `1.34`; the API server's when empty, for a dump the newest known."""
    feature_gates: Mapping[str, bool] = msgspec.field(default_factory=dict)
    """Feature gates of the scheduler that differ from the defaults of its version."""


def default_args(args: PlacementVerificationArgs) -> PlacementVerificationArgs:
    """`args` with every unset field that has a default filled in."""
    return msgspec.structs.replace(
        args,
        on_unknown=args.on_unknown or REFUSE,
        on_conditional=args.on_conditional or REFUSE,
        on_return_to_source=args.on_return_to_source or REFUSE_BALANCE,
        on_gang_minimum=args.on_gang_minimum or REFUSE,
        scheduler_names=args.scheduler_names or ASSUMED,
    )


def needs(_args: PlacementVerificationArgs) -> Needs:
    """What decides about landings, with the pod templates of workloads."""
    return landing_needs(owners=True) | Needs(pod_templates=True)


def landing_needs(*, owners: bool) -> Needs:
    """What tells where replacements land, and with `owners` what tells which pods these are.

    Without, owners are read only as far as evictions can end them.
    """
    # numpy, which plugins import, takes longer than validating a policy may.
    from descheduler.placement import needs as placement

    found = Needs(
        placement.landing_kinds(),
        wanted_kinds=placement.SCHEDULER_KINDS,
        annotations=placement.landing_annotations(),
    )
    if not owners:
        return found | Needs(wanted_kinds=placement.ENDING_OWNER_KINDS)
    return found | Needs(placement.OWNER_KINDS, wanted_kinds=placement.OWNER_KINDS_AT_HAND.union(OTHER_POD_GROUPS))


def validate_args(args: PlacementVerificationArgs) -> list[ArgsProblem]:
    """Problems of `args` as they are after `default_args`."""
    choices = (
        ("onUnknown", args.on_unknown, _CHOICES),
        ("onConditional", args.on_conditional, _CHOICES),
        ("onReturnToSource", args.on_return_to_source, _RETURN_CHOICES),
        ("onGangMinimum", args.on_gang_minimum, _GANG_CHOICES),
    )
    problems = [
        ArgsProblem((field,), f"{value!r} is not one of {', '.join(allowed)}")
        for field, value, allowed in choices
        if value and value not in allowed
    ]
    problems += [
        ArgsProblem(("schedulerVersions", name), problem)
        for name, problem in _release_problems(args.scheduler_versions)
    ]
    problems += check_selector("disposablePods", args.disposable_pods)
    try:
        version_of(args)
    except KubeVersionError as error:
        problems.append(ArgsProblem(("featureGates" if args.feature_gates else "kubeVersion",), str(error)))
    return problems


def _release_problems(releases: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What is wrong with each release, by the scheduler."""
    if releases:
        from descheduler.placement.schedulers.configured import release_problem

        found = ((name, release_problem(name, release)) for name, release in releases.items())
        yield from ((name, problem) for name, problem in found if problem)


def file_problems(args: PlacementVerificationArgs, read: ReadSchedulerFile) -> list[ArgsProblem]:
    """What is wrong with the scheduler's configuration, which is read with the policy."""
    if not args.scheduler_config_file:
        return []
    try:
        scheduling_settings(args, {args.scheduler_config_file: read(args.scheduler_config_file)})
    except PolicyError as error:
        return [ArgsProblem(("schedulerConfigFile",), str(error))]
    except KubeVersionError:
        return []  # said by `validate_args`
    return []


class PlacementVerification:
    """Refuses pods whose replacement does not land: not as a filter, but by the `LandingCheck` of every request."""

    def __init__(self, _args: PlacementVerificationArgs, _handle: Handle) -> None:
        """Keeps nothing."""

    def filter(self, pod: Pod) -> Verdict:
        """Every pod passes."""
        return ACCEPTED

    def pre_eviction_filter(self, pod: Pod) -> Verdict:
        """Every pod passes."""
        return ACCEPTED


def verification_notes(policy: Policy) -> tuple[str, ...]:
    """A sentence when some profile of a DeschedulerConfiguration evicts without PlacementVerification, its default."""
    if policy.kind != "DeschedulerConfiguration":
        return ()
    names = [profile.name for profile in policy.profiles if verification_args(profile) is None]
    if not names:
        return ()
    profiles = f"profile {names[0]}" if len(names) == 1 else f"profiles {', '.join(names)}"
    effect = "pods are evicted even if their replacement stays pending"
    return (f"PlacementVerification is disabled in {profiles}: {effect}",)


def verification_args(profile: Profile) -> PlacementVerificationArgs | None:
    """The arguments with which `profile` verifies landings; None when it does not."""
    return next(profile.args_of(PlacementVerificationArgs, profile.pre_eviction_filter), None)


def requires_gain(policy: Policy) -> bool:
    """Whether every profile evicts only pods whose plugin gains something by it."""
    verified = map(verification_args, policy.profiles)
    return all(args is not None and args.require_gain for args in verified)


def scheduling_by_profile(
    policy: Policy, cluster_version: KubeVersion | None
) -> list[tuple[str, SchedulingSettings | None]]:
    """Each profile by name with the scheduler that it verifies landings with, None where it does not.

    Raises PolicyError for a scheduler's configuration that makes no sense in the version of the cluster.
    """
    verified = [(profile.name, verification_args(profile)) for profile in policy.profiles]
    return [
        (name, None if args is None else scheduling_settings(args, policy.scheduler_files, cluster_version))
        for name, args in verified
    ]


def scheduling_settings(
    args: PlacementVerificationArgs, files: Mapping[str, SchedulerFile], cluster_version: KubeVersion | None = None
) -> SchedulingSettings:
    """The scheduler that `args` describe; of the cluster's version when they name none.

    `files` holds the configuration that they name. Raises PolicyError and KubeVersionError.
    """
    version, names = version_of(args, cluster_version), args.scheduler_names or ASSUMED
    releases = args.scheduler_versions
    if not (args.scheduler_config_file or releases):
        return SchedulingSettings(None, version, names)
    from descheduler.placement.configuration.kube_scheduler.configuration import default_configuration
    from descheduler.placement.plugins.table import PLUGINS
    from descheduler.placement.schedulers.configured import read_configuration, with_releases

    if not args.scheduler_config_file:
        configuration = with_releases(default_configuration(version, PLUGINS), releases)
        return SchedulingSettings(configuration, version, names)
    document = files[args.scheduler_config_file].document
    configuration = read_configuration(document, version, PLUGINS, SCHEDULERS, releases)
    return SchedulingSettings(configuration, version, names)


def version_of(args: PlacementVerificationArgs | None, cluster_version: KubeVersion | None = None) -> KubeVersion:
    """The version of Kubernetes with its gates by which landings are verified; that of the cluster without `args`."""
    if args is None:
        return cluster_version or KubeVersion()
    version = KubeVersion.parse(args.kube_version) if args.kube_version else cluster_version or KubeVersion()
    return version.with_gates(args.feature_gates)


class VerifiedCheck(PodByPod):
    """A rule about single pods. Profiles without the proof evict as the program does whose policy it is."""

    def __init__(self, profiles: Sequence[Profile], snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._holds = [verification_args(profile) is not None for profile in profiles]

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """The refusal of the rule, else acceptance."""
        return (self.refusal(candidate.pod) if self._holds[bundle.profile_index] else None) or ACCEPTED

    @abstractmethod
    def refusal(self, pod: Pod) -> Verdict | None:
        """What the rule has against the eviction of `pod`."""
