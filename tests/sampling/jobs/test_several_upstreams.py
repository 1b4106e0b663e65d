"""Several upstreams into one run, and their votes: servers with ledgers, one of them slow, busy or dead."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.runs.manifest import Manifest
from steelyard.runs.run import Run
from tests.running import Done, steelyard
from tests.sampling.jobs.generating import ask_for, wait_for_samples
from tests.upstreams import FaultUpstream, command, fault_upstream
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.usefixtures("key", "short_pauses")
MODELS = {"ant": "fault:knows@90", "bee": "fault:knows@60", "cat": "fault:knows@15"}


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, FaultUpstream]]:
    """A server for each of three sources."""
    with ExitStack() as servers:
        yield {name: servers.enter_context(fault_upstream(tmp_path_factory.mktemp(name))) for name in MODELS}


def named(values: dict[str, Any]) -> str:
    return ",".join(f"{name}={getattr(value, 'url', value)}" for name, value in values.items())


def generate(
    servers: dict[str, Any], folder: Path, *words: object, models: dict[str, str] | None = None, count: int = 5
) -> Done:
    chosen = {name: (models or MODELS)[name] for name in servers}
    words = ("--upstream", named(servers), "--model", named(chosen), "-o", folder / "run", *words)
    return steelyard("generate", ask_for(folder, count), *words)


def said(folder: Path) -> dict[tuple[str, str, int], str]:
    """The responses of a run's table, by question, source and sample."""
    table = pl.read_parquet(folder / "run" / "table.parquet")
    return {(q, who, i): text for q, who, i, text in table.select("question", "llm", "sample", "response").iter_rows()}


def asked(server: FaultUpstream, since: int = 0) -> set[tuple[str, int]]:
    """Which (question, sample) a server was asked for after a position of its ledger."""
    entries = [entry for entry in server.entries()[since:] if entry["prompt"][0].isdigit()]
    return {("q" + each["prompt"].split()[0], each["seed"] + j) for each in entries for j in range(each["n"] or 1)}


@pytest.fixture(scope="module")
def made(three: dict[str, FaultUpstream], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the three, and the plan of a committee fitted on it."""
    folder = tmp_path_factory.mktemp("made")
    assert generate(three, folder, "-n", 3, count=50).code == 0
    done = steelyard("fit", folder / "run", "-o", folder / "plan.json")
    assert done.code == 0, done.err
    return folder


def test_every_upstream_gives_n_samples_per_question_and_the_table_says_whose_they_are(
    three: dict[str, FaultUpstream], made: Path
) -> None:
    table = pl.read_parquet(made / "run" / "table.parquet")
    assert table.group_by("llm").len().sort("llm").rows() == [(name, 150) for name in MODELS]
    assert set(table["sample"]) == {0, 1, 2}
    for name, server in three.items():
        assert asked(server) >= {(f"q{q}", i) for q in range(50) for i in range(3)}
        assert {entry["model"] for entry in server.entries()} <= {MODELS[name], "good"}
    with Run.open(made / "run") as run:
        assert {record["source"] for record in run.samples()} == set(MODELS)


def test_a_run_of_several_is_read_with_its_sources_by_itself_and_the_committee_knows_the_best(made: Path) -> None:
    pool = sy.read(made / "run")
    assert pool.sources == tuple(MODELS)
    assert sy.read(made / "run" / "table.parquet", need_score=False).sources == tuple(MODELS)
    plan = sy.load(made / "plan.json")
    assert isinstance(plan, sy.CommitteeVote)
    assert plan.weights_["ant"] > plan.weights_["bee"] > plan.weights_["cat"]
    weighed, counted = correct(sy.vote(made / "run", made / "plan.json")), correct(sy.vote(made / "run"))
    assert weighed > 45
    assert weighed >= counted


def correct(verdicts: pl.DataFrame) -> int:
    """How many verdicts are what the servers know."""
    rows = verdicts.select("question", "answer").iter_rows()
    return sum(answer == str(int(question[1:]) % 5) for question, answer in rows)


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "RUN", "--resamples", 3, "-n", "6,9"),
        ("vote", "RUN", "--method", "consensus"),
        ("compare", "RUN", "--method", "committee,majority"),
        ("report", "RUN", "-o", "PAGE", "--json"),
    ],
)
def test_the_other_verbs_take_such_a_run_as_it_is(made: Path, words: tuple[object, ...]) -> None:
    places = {"RUN": made / "run", "PAGE": made / "page.html"}
    done = steelyard(*(places.get(str(word), word) for word in words))
    assert done.code == 0, done.err
    assert "committee" in done.out or "consensus" in done.out or "committee" in places["PAGE"].read_text()


def test_ask_votes_by_the_plan_of_a_committee_and_shows_who_said_what(
    three: dict[str, FaultUpstream], made: Path
) -> None:
    words = ("ask", "113 + 1?", "--upstream", named(three), "--model", named(MODELS), "-n", 2)
    found = json.loads(steelyard(*words, "--plan", made / "plan.json", "--json").out)
    assert (found["answer"], found["method"], found["upstreams"]) == ("3", "committee", ["ant", "bee", "cat"])
    assert [(each["source"], each["sample"]) for each in found["samples"]] == [
        (name, i) for i in range(2) for name in MODELS
    ]
    plan = sy.load(made / "plan.json")
    assert isinstance(plan, sy.CommitteeVote)
    weights = {each["source"]: each["weight"] for each in found["samples"]}
    assert weights == {name: pytest.approx(weight / 2) for name, weight in plan.weights_.items()}
    shown = steelyard(*words)
    assert "1 of cat" in shown.out
    assert "ant ×" in shown.out
    assert "each response counts once, whatever its source" in shown.out


def test_from_python_it_is_a_dictionary(three: dict[str, FaultUpstream], tmp_path: Path) -> None:
    urls = {name: server.url for name, server in three.items()}
    made = sy.generate(ask_for(tmp_path, 2), tmp_path / "run", upstream=urls, model=MODELS, n=2)
    assert (made.requested, made.held, made.lost) == (12, 12, {})
    assert {name: part.done for name, part in made.parts.items()} == {"ant": 4, "bee": 4, "cat": 4}
    asked = sy.ask("3 + 1?", upstream=urls, model=MODELS, n=1)
    assert [vote.source for vote in asked.votes] == ["ant", "bee", "cat"]


def test_ask_without_an_upstream_that_is_gone_votes_with_the_others_and_says_so(
    three: dict[str, FaultUpstream], made: Path
) -> None:
    servers = {"ant": three["ant"].url, "bee": "http://127.0.0.1:9/v1", "cat": three["cat"].url}
    words = ("ask", "113 + 1?", "--upstream", named(servers), "--model", named(MODELS), "-n", 2)
    done = steelyard(*words, "--plan", made / "plan.json", "--json")
    assert done.code == 0, done.err
    assert "bee gave no sample, so the vote leaves it out" in done.err
    found = json.loads(done.out)
    assert {each["source"] for each in found["samples"]} == {"ant", "cat"}
    everywhere = dict.fromkeys(servers, "http://127.0.0.1:9/v1")
    gone = steelyard("ask", "1 + 1?", "--upstream", named(everywhere), "--model", named(MODELS))
    assert gone.code == 2
    assert "gave no sample" in gone.err


def test_a_plan_for_a_committee_needs_its_upstreams_by_name(three: dict[str, FaultUpstream], made: Path) -> None:
    words = ("--model", "m", "--plan", made / "plan.json")
    done = steelyard("ask", "1 + 1?", "--upstream", three["ant"].url, *words)
    assert done.code == 2
    assert "name the upstreams as it does, --upstream ant=URL" in done.err


def test_an_upstream_that_dies_in_the_middle_leaves_the_others_going_and_goes_on_later(
    three: dict[str, FaultUpstream], tmp_path: Path
) -> None:
    """The process of one server ends while the command works; the same names at other addresses go on."""
    (tmp_path / "bee").mkdir()
    models = named(MODELS)
    with ExitStack() as until_then:
        bee = until_then.enter_context(fault_upstream(tmp_path / "bee"))
        bee.allow(12)
        servers = {"ant": three["ant"], "bee": bee, "cat": three["cat"]}
        words, environment = command(
            "generate", ask_for(tmp_path, 30), "--upstream", named(servers), "--model", models, "-n", 2,
            "--concurrency", 4, "--retries", 0, "-o", tmp_path / "run",
        )  # fmt: skip
        process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        journal = tmp_path / "run" / "journal.jsonl"
        until(lambda: journal.exists() and journal.read_text().count('"source":"bee"') >= 4)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2, out
    assert "bee: " in err
    assert "run the same command again" in err
    assert "To resume:" in out
    there = said(tmp_path)
    assert {name: sum(key[1] == name for key in there) for name in ("ant", "cat")} == {"ant": 60, "cat": 60}
    samples = {(q, i) for (q, who, i), text in there.items() if who == "bee" and text is not None}
    assert 4 <= len(samples) < 60
    positions = {name: len(server.entries()) for name, server in three.items()}
    (tmp_path / "again").mkdir()
    with fault_upstream(tmp_path / "again") as again:
        done = generate(servers | {"bee": again}, tmp_path, "-n", 2, count=30)
        assert done.code == 0, done.err
        assert "180 of 180 samples" in done.out
        assert asked(again) == {(f"q{q}", i) for q in range(30) for i in range(2)} - samples
    assert {name: len(server.entries()) for name, server in three.items()} == positions


def test_after_kill_9_nothing_that_is_there_is_asked_again_of_anybody(tmp_path: Path) -> None:
    with ExitStack() as stack:
        servers = {}
        for name in MODELS:
            (tmp_path / name).mkdir()
            servers[name] = stack.enter_context(fault_upstream(tmp_path / name))
            servers[name].allow(20)
        words, environment = command(
            "generate", ask_for(tmp_path, 30), "--upstream", named(servers), "--model", named(MODELS), "-n", 2,
            "--concurrency", 4, "-o", tmp_path / "run",
        )  # fmt: skip
        process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_samples(tmp_path / "run", 30)
        process.kill()
        process.wait()
        with Run.open(tmp_path / "run") as run:
            there = {(each["source"], each["question"], each["sample"] // 100) for each in run.samples()}
        assert 30 <= len(there) < 180
        since = {name: len(server.entries()) for name, server in servers.items()}
        for server in servers.values():
            server.allow()
        done = generate(servers, tmp_path, "-n", 2, count=30)
        assert done.code == 0, done.err
        after = {(name, q, i) for name, server in servers.items() for q, i in asked(server, since[name])}
        assert not after & there
        assert after | there == {(name, f"q{q}", i) for name in MODELS for q in range(30) for i in range(2)}
        assert len(said(tmp_path)) == 180


def test_a_slow_and_a_busy_upstream_hold_up_nobody_else(tmp_path: Path) -> None:
    models = {"busy": "fault:429@0!", "quick": "good", "slow": "good"}
    with ExitStack() as stack:
        servers = {}
        for name in models:
            (tmp_path / name).mkdir()
            servers[name] = stack.enter_context(fault_upstream(tmp_path / name))
        servers["slow"].allow(9)
        others = stack.enter_context(ThreadPoolExecutor(1))
        working = others.submit(generate, servers, tmp_path, "-n", 2, "--concurrency", 3, models=models, count=12)
        journal = tmp_path / "run" / "journal.jsonl"
        until(lambda: journal.exists() and journal.read_text().count('"source":"quick"') >= 24)
        servers["slow"].allow()
        done = working.result()
        assert done.code == 0, done.err
    with Run.open(tmp_path / "run") as run:
        order = [record["source"] for record in run.samples()]
        attempts = {name: {r["attempts"] for r in run.samples() if r["source"] == name} for name in models}
    assert {name: order.count(name) for name in models} == dict.fromkeys(models, 24)
    slow = [i for i, name in enumerate(order) if name == "slow"]
    assert max(i for i, name in enumerate(order) if name == "quick") < slow[-6]
    assert max(attempts["busy"]) > 1
    assert attempts["quick"] == attempts["slow"] == {1}


def test_too_many_failures_of_one_upstream_end_that_one_alone(three: dict[str, FaultUpstream], tmp_path: Path) -> None:
    models = MODELS | {"bee": "fault:422"}
    done = generate(three, tmp_path, "-n", 2, "--json", models={**models, "bee": "fault:422?+"}, count=4)
    assert done.code == 2
    assert "bee: " in done.err
    told = json.loads(done.out)
    assert set(told["lost"]) == {"bee"}
    assert (told["sources"]["ant"]["samples"], told["sources"]["cat"]["samples"]) == (8, 8)
    assert told["again"].startswith("steelyard generate")


def test_a_run_takes_another_upstream_and_more_samples_and_one_left_out_stays(
    three: dict[str, FaultUpstream], tmp_path: Path
) -> None:
    first = {name: three[name] for name in ("bee", "cat")}
    assert generate(first, tmp_path, "-n", 1).code == 0
    before = said(tmp_path)
    done = generate({"ant": three["ant"]}, tmp_path, "-n", 1)
    assert done.code == 0, done.err
    assert "15 of 15 samples (5 samples now" in done.out
    assert before.items() <= said(tmp_path).items()
    assert sy.read(tmp_path / "run", need_score=False).sources == ("ant", "bee", "cat")
    assert list(Manifest.read(tmp_path / "run").sources) == ["bee", "cat", "ant"]
    assert generate({"cat": three["cat"]}, tmp_path, "-n", 2).code == 0
    assert sy.status(tmp_path / "run")["sources"]["ant"]["left"] == 5
    assert generate(three, tmp_path, "-n", 2).code == 0
    assert len(said(tmp_path)) == 30


def test_a_fork_keeps_the_samples_of_the_sources_it_shares(three: dict[str, FaultUpstream], tmp_path: Path) -> None:
    assert generate(three, tmp_path, "-n", 1, count=3).code == 0
    steelyard("score", tmp_path / "run", "--verifier", "logprob")
    before = said(tmp_path)
    two = {name: three[name] for name in ("cat", "bee")}
    done = generate(two, tmp_path, "-n", 1, "--fork", tmp_path / "other" / "run", count=4)
    assert done.code == 0, done.err
    assert "8 of 8 samples (2 samples now" in done.out
    after = said(tmp_path / "other")
    assert {key: text for key, text in after.items() if key[0] != "q3"} == {
        key: text for key, text in before.items() if key[1] != "ant"
    }
    scores = [pl.read_parquet(folder / "run" / "table.parquet") for folder in (tmp_path, tmp_path / "other")]
    columns = ["question", "llm", "sample", "logprob"]
    shared = scores[0].filter(pl.col("llm") != "ant").select(columns).sort(columns[:3])
    assert shared.equals(scores[1].filter(pl.col("question") != "q3").select(columns).sort(columns[:3]))


@pytest.mark.parametrize(
    ("servers", "models", "says"),
    [
        ({"bee": 0}, {"bee": "another"}, "the model of bee was 'fault:knows@60', now 'another'"),
        ({"BEE": 0}, {"BEE": "fault:knows@60"}, "the upstream BEE was called bee"),
        ({"": 0}, {}, "the upstreams were named bee, now a single one without a name"),
    ],
)
def test_a_run_resumed_with_another_meaning_of_its_names_is_refused(
    three: dict[str, FaultUpstream], tmp_path: Path, servers: dict[str, int], models: dict[str, str], says: str
) -> None:
    assert generate({"bee": three["bee"]}, tmp_path, "-n", 1, count=2).code == 0
    if "" in servers:
        words = ("--upstream", three["bee"].url, "--model", "m", "-n", 1, "-o", tmp_path / "run")
        done = steelyard("generate", ask_for(tmp_path, 2), *words)
    else:
        done = generate(dict.fromkeys(servers, three["bee"]), tmp_path, "-n", 1, models=models, count=2)
    assert done.code == 2
    assert says in done.err
    assert "another folder with -o" in done.err


def test_a_key_goes_to_its_own_upstream_and_to_no_other(
    three: dict[str, FaultUpstream], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY_OF_BEE", "sk-bee-0123456789abcdef")
    since = {name: len(server.entries()) for name, server in three.items()}
    assert generate(three, tmp_path, "-n", 1, "--key-env", "bee=KEY_OF_BEE", count=2).code == 0
    keyed = {name: {entry["keyed"] for entry in server.entries()[since[name] :]} for name, server in three.items()}
    assert keyed == {"ant": {False}, "bee": {True}, "cat": {False}}
    files = [path for path in (tmp_path / "run").iterdir() if path.is_file()]
    assert not any(b"sk-bee" in path.read_bytes() for path in files)


@pytest.mark.parametrize("option", ["--upstream", "--model", "--key-env"])
def test_what_is_said_twice_without_names_is_refused(
    three: dict[str, FaultUpstream], tmp_path: Path, option: str
) -> None:
    words = ("--key-env", "ONE") if option == "--key-env" else ()
    done = generate({"ant": three["ant"]}, tmp_path, "-n", 1, *words, option, "TWO")
    assert done.code == 2
    assert f"{option} was given 2 times" in done.err


def test_an_option_for_each_upstream_is_the_same_as_all_in_one(three: dict[str, FaultUpstream], tmp_path: Path) -> None:
    words = [word for name in ("ant", "bee") for word in ("--upstream", f"{name}={three[name].url}")]
    words += ["--model", "fault:knows@90", "-n", "1", "-o", str(tmp_path / "run")]
    done = steelyard("generate", ask_for(tmp_path, 2), *words)
    assert done.code == 0, done.err
    assert list(Manifest.read(tmp_path / "run").sources) == ["ant", "bee"]


def test_a_manifest_older_than_the_journal_is_refused(three: dict[str, FaultUpstream], tmp_path: Path) -> None:
    assert generate({"ant": three["ant"]}, tmp_path, "-n", 1, count=2).code == 0
    older = (tmp_path / "run" / "manifest.json").read_bytes()
    assert generate(three, tmp_path, "-n", 1, count=2).code == 0
    (tmp_path / "run" / "manifest.json").write_bytes(older)
    (tmp_path / "run" / "table.parquet").unlink()
    done = steelyard("vote", tmp_path / "run")
    assert done.code == 2
    assert "has samples of 3 sources, and the manifest names 1" in done.err


def test_upstreams_drawn_from_one_after_the_other_may_give_different_numbers_of_samples_the_fewest_first(
    three: dict[str, FaultUpstream], tmp_path: Path
) -> None:
    for name, n in (("bee", 1), ("ant", 3)):
        assert generate({name: three[name]}, tmp_path, "-n", n, count=2).code == 0
    table = pl.read_parquet(tmp_path / "run" / "table.parquet")
    assert sorted(table.group_by("llm").len().rows()) == [("ant", 6), ("bee", 2)]
