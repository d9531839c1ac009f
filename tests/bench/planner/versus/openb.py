"""Lists of the openb trace: pending pods placed where at most 5 % of the placed pods move, beside earlier figures."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from descheduler.optimizer import MakeRoom, solve
from descheduler.optimizer.arrays import PENDING
from tests.bench.planner.versus.comparison import Comparison, MissingDataError, Options, data_files
from tests.worlds.openb_arrays import make_openb_world
from tests.worlds.openb_trace import read_nodes, read_pods

_SECONDS = 60.0
_NODES = "openb_node_list_gpu_node.csv"
_EARLIER = {"gpushare100": "552 of 1,688 with 5.0 % moved", "multigpu50": "144 of 167"}
"""What an audit measured with an earlier version, by the list's name."""


def _lines(options: Options) -> Iterator[str]:
    for path in data_files(options.data, "openb", ("openb_pod_list_*.csv", "openb_pod_list_*.csv.gz")):
        name = path.name.removeprefix("openb_pod_list_").partition(".")[0]
        nodes, pods = read_nodes(_nodes_beside(path)), read_pods(path)
        for seed in range(options.num_seeds):
            world = make_openb_world(nodes, pods, load=1.0, seed=seed)
            cpu = time.process_time()
            plan = solve(
                world.problem, MakeRoom(), options.limits_or(_SECONDS), seed=seed, num_workers=options.num_workers
            )
            pending = int((world.problem.assignment == PENDING).sum())
            moved, placed = len(world.problem.moved(plan.assignment)), world.problem.num_pods - pending
            yield (
                f"{name}, seed {seed}: {pending - plan.value[0]:,} of {pending:,} pending pods placed, "
                f"{moved:,} of {placed:,} pods moved ({moved / placed:.1%}); earlier: {_EARLIER.get(name, 'none')}; "
                f"{plan.seconds:.1f} s, {time.process_time() - cpu:.1f} s of it CPU of this process"
            )


def _nodes_beside(pods: Path) -> Path:
    for name in (_NODES, f"{_NODES}.gz"):
        if (pods.parent / name).is_file():
            return pods.parent / name
    raise MissingDataError(f"no {_NODES} or {_NODES}.gz beside {pods}")


OPENB = Comparison("openb", "best-fit, and an earlier version of the planner", "CSV files of openb", _lines)
