"""What shells and kubectl are told of how a command line may go on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from descheduler.cli import kubectl_completion
from descheduler.cli.commands import COMMANDS
from descheduler.cluster.dumps.read import read_dump
from tests.cli.commands import Descheduler

pytestmark = pytest.mark.long

SHOP = Path(__file__).parents[2] / "config" / "samples" / "shop.jsonl.gz"
_PODS = read_dump([SHOP]).pods
CARTS = sorted(
    f"plain,{pod.namespace}/{pod.name}" for pod in _PODS if f"{pod.namespace}/{pod.name}".startswith("shop/cart-")
)
WORKERS = sorted({f"plain,{pod.node_name}" for pod in _PODS if (pod.node_name or "").startswith("worker-0")})
KUBECONFIG = "apiVersion: v1\nkind: Config\ncontexts:\n- {name: prod-eu}\n- {name: prod-us}\n- {name: test}\n"


def completed(line: str) -> list[str]:
    """What bash is offered for the last word of `line`, as `type,value`."""
    words = line.split(" ")
    environ = {"_DESCHEDULER_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    ended = subprocess.run(
        [sys.executable, "-m", "descheduler"],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stderr == ""
    return ended.stdout.split()


@pytest.mark.parametrize(
    ("line", "choices"),
    [
        pytest.param("descheduler run --pol", ["plain,--policy-config-file"], id="a flag of a command"),
        pytest.param("descheduler --pol", ["plain,--policy-config-file"], id="a flag without a command"),
        pytest.param(
            "descheduler --policy-config-file p.yaml --dry", ["plain,--dry-run"], id="a second flag without a command"
        ),
        pytest.param("descheduler --hel", ["plain,--help"], id="a flag that the program and its commands have"),
        pytest.param("descheduler val", ["plain,validate"], id="a command"),
        pytest.param("descheduler schema p", ["plain,plan", "plain,policy"], id="a document"),
        pytest.param("descheduler explain plugin PodL", ["plain,PodLifeTime"], id="a plugin of policies"),
        pytest.param("descheduler explain plugin nodep", ["plain,NodePorts"], id="a plugin of the scheduler"),
        pytest.param("descheduler explain res", ["plain,reservation"], id="a type of Koordinator"),
        pytest.param("descheduler explain pod sho", [], id="a pod, which only the cluster knows"),
        pytest.param("descheduler validate pol", ["file,pol"], id="a file"),
        pytest.param("descheduler --policy-config-file pol", ["file,pol"], id="a file of a flag without a command"),
        pytest.param("descheduler run --snapshot d", ["file,d"], id="a dump"),
        pytest.param("descheduler completion b", ["plain,bash"], id="a shell"),
        pytest.param("descheduler explain pod shop/ca", [], id="a pod without a dump"),
        pytest.param(f"descheduler explain --snapshot {SHOP} node worker-0", WORKERS, id="a node of a dump"),
        pytest.param(f"descheduler explain --snapshot {SHOP} pod shop/cart-", CARTS, id="a pod of a dump"),
        pytest.param(f"descheduler run --snapshot {SHOP} -n sho", ["plain,shop"], id="a namespace of a dump"),
        pytest.param("descheduler run --snapshot nowhere -n sho", [], id="a namespace of a dump that is not there"),
        pytest.param("descheduler run pol", ["file,pol"], id="a policy"),
    ],
)
def test_bash_is_offered(line: str, choices: list[str]) -> None:
    assert completed(line) == choices


def test_contexts_of_the_kubeconfig_are_offered(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(KUBECONFIG)

    assert completed(f"descheduler run --kubeconfig {file} --context prod") == ["plain,prod-eu", "plain,prod-us"]
    assert completed(f"descheduler run --kubeconfig {file}-gone --context prod") == []


def test_names_that_a_shell_would_run_or_expand_are_not_offered(tmp_path: Path) -> None:
    hostile = ["$(reboot)", "`reboot`", "a;b", "a b", "*", "-rf", "~root", "a\nb", "\x1b[31m", "it's"]
    nodes = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}} for name in ("good-1", *hostile)]
    dump = tmp_path / "dump.json"
    dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}))
    config = tmp_path / "config"
    contexts = [{"name": name} for name in ("arn:aws:eks:eu:1:cluster/a", "me@prod", *hostile)]
    config.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "contexts": contexts}))

    assert completed(f"descheduler explain --snapshot {dump} node ") == ["plain,good-1"]
    assert completed(f"descheduler run --kubeconfig {config} --context ") == [
        "plain,arn:aws:eks:eu:1:cluster/a",
        "plain,me@prod",
    ]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_of_a_shell_asks_the_program(descheduler: Descheduler, shell: str) -> None:
    ended = descheduler("completion", shell)

    assert (ended.code, ended.err) == (0, "")
    assert f"_DESCHEDULER_COMPLETE={shell}_complete" in ended.out


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        pytest.param(["val"], ["validate\tCheck policy files.", ":4"], id="a command"),
        pytest.param(["explain", "plugin", "PodL"], ["PodLifeTime", ":4"], id="a plugin"),
        pytest.param(["validate", ""], [":0"], id="a file, which the shell knows"),
    ],
)
def test_kubectl_is_offered(words: list[str], lines: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code = kubectl_completion.main(words)

    assert (code, capsys.readouterr().out.splitlines()) == (0, lines)


@pytest.mark.parametrize("words", [[], [""]])
def test_kubectl_is_offered_all_commands_at_the_start(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    kubectl_completion.main(words)

    offered = [line.partition("\t")[0] for line in capsys.readouterr().out.splitlines()]
    assert offered == [*COMMANDS, ":4"]


def test_kubectl_is_offered_flags_without_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    kubectl_completion.main(["--policy"])

    assert capsys.readouterr().out.startswith("--policy-config-file\tPolicy to run")
