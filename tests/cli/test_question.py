"""What can be asked of `explain`, in the words that kubectl takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest

from descheduler.cli.question import Question, complete_question, read_question
from descheduler.cli.subcommands.explain import explain
from descheduler.cli.subcommands.run import run
from tests.builders import node_object, pod_object

RUN_NAMESPACE = "--run-namespace"
CHANGES_NO_DECISION = frozenset(
    {
        "--as",
        "--assess-landings",
        "--client-connection-burst",
        "--client-connection-qps",
        "--deadline",
        "--detailed-exitcode",
        "--dry-run",
        "--lease",
        "--lease-duration",
        "--lease-name",
        "--lease-namespace",
        "--metrics-push-job",
        "--metrics-push-url",
        "--metrics-textfile",
        "--notify-format",
        "--notify-token-file",
        "--notify-url",
        "--notify-url-file",
        "--notify-when",
        "--observe",
        "--otel-collector-endpoint",
        "--otel-sample-rate",
        "--otel-service-name",
        "--otel-trace-namespace",
        "--otel-transport-ca-cert",
        "--quiet",
        "--no-headers",
    }
)


@pytest.mark.parametrize(
    ("words", "flags", "expected"),
    [
        pytest.param(["pod", "web-1"], {"namespace": "shop"}, ("pod", "shop/web-1"), id="a type and a name"),
        pytest.param(["pod/web-1"], {"namespace": "shop"}, ("pod", "shop/web-1"), id="as kubectl -o name prints it"),
        pytest.param(["po", "web-1"], {}, ("pod", "default/web-1"), id="a short name, in namespace default"),
        pytest.param(["Pods", "web-1"], {}, ("pod", "default/web-1"), id="a plural, in any case"),
        pytest.param(["pod", "shop/web-1"], {}, ("pod", "shop/web-1"), id="a namespace in the name"),
        pytest.param(["shop/web-1"], {}, ("pod", "shop/web-1"), id="no type means a pod"),
        pytest.param(["pod/shop/web-1"], {}, ("pod", "shop/web-1"), id="all three parts"),
        pytest.param(["po/web-1"], {"all_namespaces": True}, ("pod", "web-1"), id="any namespace"),
        pytest.param(["deployment.apps/web"], {"namespace": "shop"}, ("deployment", "shop/web"), id="an API group"),
        pytest.param(["sts/db"], {}, ("statefulset", "default/db"), id="another workload"),
        pytest.param(["cj/backup"], {}, ("cronjob", "default/backup"), id="a CronJob"),
        pytest.param(["ns/shop"], {"namespace": "other"}, ("namespace", "shop"), id="a namespace is in none"),
        pytest.param(["no", "worker-3"], {}, ("node", "worker-3"), id="a node"),
        pytest.param(["plugin/PodLifeTime"], {}, ("plugin", "PodLifeTime"), id="a plugin"),
        pytest.param(["pg/train"], {"namespace": "ai"}, ("podgroup", "ai/train"), id="a gang"),
        pytest.param(
            ["podgroups.scheduling.volcano.sh", "train"],
            {"namespace": "ai"},
            ("podgroup", "scheduling.volcano.sh:ai/train"),
            id="a gang of an API group",
        ),
        pytest.param(
            ["podgroup.v1beta1.scheduling.volcano.sh/ai/train"],
            {},
            ("podgroup", "scheduling.volcano.sh:ai/train"),
            id="a gang of a version and an API group",
        ),
        pytest.param(["reservation", "room"], {"namespace": "ai"}, ("reservation", "room"), id="a Reservation"),
        pytest.param(["devices/gpu-1"], {}, ("device", "gpu-1"), id="the devices of a node"),
        pytest.param(["pmj/move"], {}, ("podmigrationjob", "move"), id="a PodMigrationJob"),
        pytest.param(["budgets"], {}, ("poddisruptionbudget", ""), id="all budgets"),
        pytest.param(["pdb"], {"namespace": "shop"}, ("poddisruptionbudget", "shop/"), id="those of a namespace"),
        pytest.param(["pdb/web"], {"namespace": "shop"}, ("poddisruptionbudget", "shop/web"), id="a budget"),
        pytest.param(
            ["pdb"], {"namespace": "shop", "all_namespaces": True}, ("poddisruptionbudget", ""), id="budgets of all"
        ),
        pytest.param(
            ["pod/shop/web-1"], {"all_namespaces": True}, ("pod", "shop/web-1"), id="the namespace of the name"
        ),
        pytest.param(["pod/shop/web"], {"namespace": "shop"}, ("pod", "shop/web"), id="the same namespace twice"),
        pytest.param(["deploy.v1.apps/web"], {}, ("deployment", "default/web"), id="a version and an API group"),
        pytest.param(["podgroup/train"], {"namespace": "ai"}, ("podgroup", "ai/train"), id="a gang of any API group"),
        pytest.param(["podgroup.v1/train"], {"namespace": "ai"}, ("podgroup", "ai/train"), id="a version alone"),
        pytest.param(
            ["podgroup.scheduling.x-k8s.io/train"],
            {"all_namespaces": True},
            ("podgroup", "scheduling.x-k8s.io:train"),
            id="a gang of an API group in any namespace",
        ),
    ],
)
def test_questions_are_read_as_kubectl_users_type_them(
    words: list[str], flags: dict[str, object], expected: tuple[str, str]
) -> None:
    options = {"namespace": None, "all_namespaces": False, **flags}

    assert read_question(words, **options) == Question(*expected)  # type: ignore[arg-type]  # of a table


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pod"], "'pod' needs a name: write TYPE NAME or TYPE/NAME"),
        (["web-1"], "'web-1': write TYPE NAME or TYPE/NAME"),
        (["deplyo", "web"], "'deplyo' is not a type that can be explained; did you mean 'deploy'?"),
        (["pod/a", "pod/b"], "explains one thing at a time"),
        (["node", "a/b"], "'a/b' is not the name of a node"),
        (["pod", ""], "'' is not the name of a pod"),
        (["pod", "/web"], "'/web' is not the name of a pod"),
        (["pod", "shop/"], "'shop/' is not the name of a pod"),
        (["pod/a/b/c"], "'a/b/c' is not the name of a pod"),
        (["pod/a", "b"], "explains one thing at a time"),
        (["node/a", "node/b", "node/c"], "explains one thing at a time"),
        (["deployment"], "'deployment' needs a name"),
        (["pod", "shop/web-1"], "shop/web-1 is in namespace shop, and -n says test; leave one of them out"),
        (["service/web"], "service/web is in namespace service ('service' is not a type that can be explained)"),
    ],
)
def test_questions_that_make_no_sense_say_how_to_ask(words: list[str], message: str) -> None:
    with pytest.raises(click.UsageError) as raised:
        read_question(words, "test", all_namespaces=False)

    assert raised.value.message.startswith(message)


def test_namespace_of_the_context_stands_in_for_the_default_one() -> None:
    questions = [
        read_question(["pod/web"], namespace, all_namespaces=False, default=lambda: "shop")
        for namespace in (None, "test")
    ]

    assert [question.name for question in questions] == ["shop/web", "test/web"]


def test_namespace_of_the_context_is_looked_for_only_where_it_counts() -> None:
    def fail() -> str:
        raise AssertionError

    assert read_question(["node/a"], None, all_namespaces=False, default=fail).name == "a"
    assert read_question(["shop/web"], None, all_namespaces=False, default=fail).name == "shop/web"


def test_explain_has_every_flag_of_a_run_that_changes_its_decisions() -> None:
    """But for -n, which says where the pod is, so that the -n of a run has another name."""
    known = {option for param in explain.params for option in param.opts}
    options = [param for param in run.params if isinstance(param, click.Option) and not param.hidden]
    of_run = {next(name for name in option.opts if name.startswith("--")) for option in options}

    assert of_run - CHANGES_NO_DECISION - known == set()
    assert RUN_NAMESPACE in known


def offered(*words: str, incomplete: str = "", **others: object) -> list[str]:
    """What a shell offers after these words of the question."""
    context = click.Context(explain)
    context.params = {"question": words, **others}
    (param,) = (each for each in explain.params if each.name == "question")
    return [item.value for item in complete_question(context, param, incomplete)]


def test_types_are_offered_first() -> None:
    assert {"pod", "node", "plugin", "deployment"} <= set(offered())
    assert "po" not in offered()
    assert offered(incomplete="pl") == ["plugin"]


def test_names_that_need_no_cluster_are_offered_in_any_case() -> None:
    assert offered("plugin", incomplete="podlifet") == ["PodLifeTime"]
    assert "PodLifeTime" in offered("plugin")


def test_names_of_a_cluster_are_offered_out_of_the_dump(tmp_path: Path) -> None:
    dump = tmp_path / "dump.json"
    pods = [pod_object("web", namespace="shop"), pod_object("db")]
    dump.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [node_object("a"), *pods]}))

    def named(type_name: str, **flags: Any) -> list[str]:
        return offered(type_name, snapshot=(str(dump),), **flags)

    assert named("node") == ["a"]
    assert named("pod") == ["default/db", "shop/web"]
    assert named("pod", namespace="shop") == ["web"]
    assert named("namespace") == ["default", "shop"]
    assert named("deployment") == []
    assert named("nothing") == []


@pytest.mark.parametrize("dumps", [(), ("-",), ("missing.json",), None], ids=["none", "stdin", "missing", "not given"])
def test_nothing_is_offered_without_a_dump_that_can_be_read(dumps: object) -> None:
    assert offered("pod", snapshot=dumps) == []
