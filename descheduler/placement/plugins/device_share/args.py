"""Arguments of `DeviceShare`, and how full a device, or a node by all of its devices, is once a pod is there: 0 to 100.

Source: koordinator 1.8, `pkg/scheduler/apis/config/v1/defaults.go` and `pkg/scheduler/plugins/deviceshare/scoring.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, cast, get_args

import msgspec

from descheduler.model.koordinator.devices import Amounts
from descheduler.model.quantity import QuantityError, ceil_value, parse_quantity
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.placement.plugins.device_share.device_state import DeviceAmounts
from descheduler.placement.plugins.device_share.requests import GPU_MEMORY, GPU_MEMORY_RATIO
from descheduler.placement.plugins.helper.scores import MAX_SCORE
from descheduler.policy.shared_args import Args, WithoutEffect

Strategy = Literal["LeastAllocated", "MostAllocated"]
_STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
_Weight = Annotated[int, msgspec.Meta(ge=1, le=100)]

Templates = Mapping[str, Mapping[str, Amounts]]
"""`<vendor>-<model>` of a GPU → name of a template → what a share that is cut by it has."""


class DeviceShareArgs(msgspec.Struct, frozen=True):
    """How devices are scored, and which GPUs are shared in which parts.

    `templates` are None where they are not known.
    """

    strategy: Strategy = "LeastAllocated"
    weights: Mapping[str, int] = msgspec.field(
        default_factory=lambda: dict.fromkeys(
            (GPU_MEMORY_RATIO, GPU_MEMORY, "koordinator.sh/rdma", "koordinator.sh/fpga"), 1
        )
    )
    templates: Templates | None = None
    template_resources: frozenset[str] = frozenset({"huawei.com/npu-core"})
    """Shared requests for any of these are for a template."""
    unshared_models: frozenset[tuple[str, str]] = frozenset()
    """Vendor and model of GPUs that are given to one pod each."""


class ScoredResourceSection(Args, frozen=True):
    """A resource to score."""

    name: str = ""
    """Name of a resource of devices."""
    weight: _Weight = 1
    """1 to 100."""


class DeviceScoringSection(Args, frozen=True):
    """`scoringStrategy`."""

    type: str = ""
    """`LeastAllocated` (the default) prefers idle devices, `MostAllocated` those in use."""
    resources: tuple[ScoredResourceSection, ...] = ()
    """What is scored. Without `scoringStrategy` it is gpu-memory-ratio, gpu-memory, rdma and fpga alike, with it and
    without `resources` nothing, as in Koordinator."""


class TemplatesConfigSection(Args, frozen=True):
    """`gpuSharedResourceTemplatesConfig`."""

    config_map_namespace: str = ""
    """Where the scheduler reads the templates; ConfigMaps are not read here, see `gpuSharedResourceTemplates`."""
    config_map_name: str = ""
    """The same."""
    matched_resources: tuple[str, ...] = ()
    """Shared requests for any of these are for a template; huawei.com/npu-core by default."""


class GpuModelSection(Args, frozen=True):
    """A model of GPUs."""

    vendor: str = ""
    """As in the label node.koordinator.sh/gpu-vendor."""
    model: str = ""
    """As in the label node.koordinator.sh/gpu-model."""


class DeviceShareSection(Args, frozen=True):
    """`DeviceShareArgs`."""

    allocator: str = ""
    """Without effect, as in Koordinator."""
    scoring_strategy: DeviceScoringSection | None = None
    """How devices, and nodes by their devices, are scored."""
    disable_device_numa_topology_alignment: bool = msgspec.field(
        default=False, name="disableDeviceNUMATopologyAlignment"
    )
    """Without effect here: devices and CPUs are not aligned."""
    gpu_shared_resource_templates_config: TemplatesConfigSection | None = None
    """Which requests are for a template."""
    gpu_shared_resource_templates: Mapping[str, Mapping[str, Mapping[str, str | int]]] | None = None
    """The templates themselves, as in `data.yaml` of the scheduler's ConfigMap: `<vendor>-<model>` to name to
    resources. Only this program knows this key. Without it the landing of pods that ask for a template is unknown."""
    gpu_share_unsupported_models: tuple[GpuModelSection, ...] = ()
    """GPUs that are not shared."""
    enable_queue_hint: WithoutEffect[bool] = False


def _read(block: ArgsBlock, section: DeviceShareSection) -> DeviceShareArgs:
    default = DeviceShareArgs()
    scoring = section.scoring_strategy
    if scoring is not None:
        block.choose(("scoringStrategy", "type"), scoring.type, _STRATEGIES)
    config = section.gpu_shared_resource_templates_config
    return DeviceShareArgs(
        strategy=default.strategy if scoring is None else cast(Strategy, scoring.type),
        weights=default.weights if scoring is None else {each.name: each.weight for each in scoring.resources},
        templates=_templates(block, section),
        template_resources=frozenset(config.matched_resources if config else ()) or default.template_resources,
        unshared_models=frozenset((each.vendor, each.model) for each in section.gpu_share_unsupported_models),
    )


def _templates(block: ArgsBlock, section: DeviceShareSection) -> Templates | None:
    given = section.gpu_shared_resource_templates
    if given is None:
        return None
    return {
        model: {name: _amounts(block, (model, name), template) for name, template in templates.items()}
        for model, templates in given.items()
    }


def _amounts(block: ArgsBlock, path: tuple[str, str], template: Mapping[str, str | int]) -> Amounts:
    amounts = {}
    for resource, quantity in template.items():
        try:
            amounts[resource] = ceil_value(parse_quantity(str(quantity)))
        except QuantityError as error:
            block.fail(("gpuSharedResourceTemplates", *path, resource), str(error))
    return amounts


def _shown(args: DeviceShareArgs) -> Mapping[str, object]:
    return {
        "scoringStrategy.type": args.strategy,
        "scoringStrategy.resources": [{"name": name, "weight": weight} for name, weight in args.weights.items()],
        "gpuSharedResourceTemplates": args.templates,
        "gpuSharedResourceTemplatesConfig.matchedResources": sorted(args.template_resources),
        "gpuShareUnsupportedModels": [
            {"vendor": vendor, "model": model} for vendor, model in sorted(args.unshared_models)
        ],
    }


ARGS = ArgsKind(DeviceShareSection, _read, DeviceShareArgs, _shown)


class DeviceScorer:
    """Scores by the strategy and the weights of `args`."""

    def __init__(self, args: DeviceShareArgs) -> None:
        self._weights = args.weights
        self._is_most = args.strategy == "MostAllocated"

    def device(self, request: Amounts, total: Amounts, free: Amounts) -> int:
        """The mean over the resources that there are, by weight, cut."""
        score = weights = 0
        for name, weight in self._weights.items():
            whole = total.get(name, 0)
            if whole:
                score += weight * self._rating(request.get(name, 0), whole, free.get(name, 0))
                weights += weight
        return score // weights if weights else 0

    def node(self, request: Amounts, total: DeviceAmounts, free: DeviceAmounts) -> int:
        """The same of all devices of one type together."""
        names = self._weights
        return self.device(request, _sums(names, total.values()), _sums(names, free.values()))

    def _rating(self, asked: int, whole: int, free: int) -> int:
        taken = whole - free + asked if whole >= free else whole
        if self._is_most:
            return min(taken, whole) * MAX_SCORE // whole
        return max(0, whole - taken) * MAX_SCORE // whole


def _sums(names: Iterable[str], amounts: Iterable[Amounts]) -> Amounts:
    found = dict.fromkeys(names, 0)
    for each in amounts:
        for name in found:
            found[name] += each.get(name, 0)
    return found
