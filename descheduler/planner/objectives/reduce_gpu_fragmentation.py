"""ReduceFragmentation over GPUs that pods share or take several of: what is free on them in parts that pods can use."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted_about, text_about
from descheduler.optimizer.objectives.reduce_gpu_fragmentation import ReduceGpuFragmentation
from descheduler.planner.gpus.gpu_classes import gpu_classes
from descheduler.planner.gpus.gpu_problem import GpuProblem, units_of
from descheduler.planner.gpus.stranded_gpus import StrandedGpus
from descheduler.planner.objective_args import CLAIMED_DEVICES, ReduceFragmentationArgs
from descheduler.planner.objectives.fragmentation import Fragmentation
from descheduler.planner.problem.cluster_problem import ClusterProblem

_PACKING_HINT = "DeviceShare that scores with MostAllocated prefers GPUs that are in use (schedulerConfigFile)"
_WHOLE_GPU = 100
_NO_GPUS = "no node has a Device with GPUs (devices.scheduling.koordinator.sh)"
_NO_DEVICES = "no node has devices of its own (resourceslices.resource.k8s.io)"


class ReduceGpuFragmentationObjective(Fragmentation):
    """Percent of GPUs of `nodes` that are free and that pods cannot use, by the sizes in which pods ask for GPUs."""

    larger = "larger free parts of GPUs"

    def __init__(self, args: ReduceFragmentationArgs, handle: StrategyHandle, nodes: Sequence[Node]) -> None:
        self._resource = args.resource
        self.state = f"of free {args.resource}"
        self._evictor = handle.evictor
        self.node_names = [node.name for node in nodes]
        openings = self._evictor.prover().openings()
        pods = [pod for pod in handle.view.snapshot.pods if not pod.is_terminal]
        most_memory = openings.parts.most_memory(map(openings.place_of, self.node_names))
        self._classes = gpu_classes(pods, openings, most_memory)
        asking = (pod for pod in pods if openings.parts.need_of(pod, most_memory) is not None)
        if self._evictor.prover().preference(asking).prefers_idle_parts:
            self.hint = _PACKING_HINT
        self.scale = 1 if self._classes is None else int(self._classes.weights.sum())
        self._stranded = None if self._classes is None else StrandedGpus(self.node_names, self._classes)

    def text_of(self, number: int) -> str:
        """Such as `unusable free GPU capacity: 1.33 GPUs`."""
        return f"unusable free GPU capacity: {self.amount_of(number)}"

    def amount_of(self, number: int) -> str:
        """Such as `1.33 GPUs`."""
        return counted_about(number / self.scale / _WHOLE_GPU, "GPU")

    def change(self, before: int, after: int) -> str:
        """Such as `unusable free GPU capacity: 1.33 → 0.67 GPUs`."""
        was, now = (number / self.scale / _WHOLE_GPU for number in (before, after))
        if before != after and text_about(was) == text_about(now):
            return f"{self.text_of(before)} → slightly {'less' if after < before else 'more'}"
        return f"unusable free GPU capacity: {text_about(was)} → {self.amount_of(after)}"

    def nothing_to_do(self) -> str:
        """That no pod asks for GPUs, that no node has any, or that all that is free can be used."""
        openings = self._evictor.prover().openings()
        if not any(openings.parts.free(openings.place_of(node)) for node in self.node_names):
            return _NO_DEVICES if self._resource == CLAIMED_DEVICES else _NO_GPUS
        if self._stranded is None:
            return "no pod requests GPUs"
        return "" if self.figure() else "pods can use all free parts of GPUs"

    def figure(self) -> int:
        """Percent of GPUs that are stranded, summed over the sizes."""
        return 0 if self._stranded is None else self._stranded.total(self._evictor.prover().openings())

    @property
    def tells_gpus_apart(self) -> bool:
        """Always."""
        return True

    def stated_over(self, cluster: ClusterProblem) -> ReduceGpuFragmentation:
        """The sizes as classes."""
        if self._classes is None or not isinstance(cluster, GpuProblem):
            raise AssertionError("no pod requests GPUs")
        self.stated_of = cluster
        classes = self._classes.over(cluster.allocatable.shape[1], units_of(cluster.allocatable))
        return ReduceGpuFragmentation(classes.shape[1] - 1, classes, self._classes.numbers, self._classes.weights)

    def reason(self, pod: Pod) -> str:
        """What is free on the GPUs of its node."""
        openings = self._evictor.prover().openings()
        gpus = openings.parts.free(openings.place_of(pod.node_name))
        free = ", ".join(f"GPU {minor} is {gpu.memory_ratio}% free" for minor, gpu in gpus.items() if gpu.memory_ratio)
        if not free:
            return f"leaves parts of GPUs free on node {pod.node_name} that pods can use"
        return f"{free}, and pods cannot use all of that"
