"""steelyard score --frugal: reads only what can change the verdict; resumable, and going on to all scores later."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.evaluation.scores_on_demand import learn_asking
from steelyard.runs.manifest import Manifest
from steelyard.runs.parameters import number_of
from steelyard.runs.run import Run
from steelyard.voting.on_demand import asking_rule
from steelyard.voting.on_demand.base_rule import replay
from tests.running import Done, steelyard
from tests.runs.runs_small import small_run
from tests.sampling.jobs.on_demand import COLUMN, asked_in, mixed_run, plan_for, scores_of, verdicts_with_all_scores
from tests.sampling.jobs.test_score import journal, p_true_words, questions_asked
from tests.sampling.verifiers.verifier_servers import FaultVerifier, fault_verifier
from tests.scored_committees import scored_committee

pytestmark = pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultVerifier]:
    with fault_verifier(tmp_path_factory.mktemp("verifier")) as server:
        yield server


@pytest.fixture
def server(verifier: FaultVerifier) -> FaultVerifier:
    """A verifier whose ledger is empty."""
    verifier.ledger.unlink(missing_ok=True)
    return verifier


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plan_for(tmp_path_factory.mktemp("plan") / "plan.json")


def frugal(run: Path, server: FaultVerifier, plan: Path, *more: object) -> Done:
    return steelyard(*p_true_words(run, server, "--plan", plan, *more))


def test_exact_reads_a_part_and_the_verdicts_are_those_of_all_scores(
    tmp_path: Path, server: FaultVerifier, plan: Path
) -> None:
    run = mixed_run(tmp_path / "run")
    done = frugal(run, server, plan, "--frugal", "exact")
    assert done.code == 0, done.err
    asked = questions_asked(server)
    said = json.loads(done.out)
    assert set(asked.values()) == {1}
    assert said["rule"] == "exact"
    assert said["new"] == len(asked)
    assert said["new"] + said["not_scored"] == 48
    assert said["not_scored"] >= 8, "nobody needs to read a unanimous question"
    table = pl.read_parquet(run / "table.parquet")
    assert not any(table.filter(question="q0")[f"{COLUMN}:scored"])
    assert sum(asked_in(run)) == said["new"]
    assert sy.vote(run, plan)["answer"].to_list() == verdicts_with_all_scores(run, plan)


def test_not_asked_is_not_missing_in_journal_table_and_pool(tmp_path: Path, server: FaultVerifier, plan: Path) -> None:
    run = mixed_run(tmp_path / "run")
    assert frugal(run, server, plan, "--frugal", "exact").code == 0
    pool = sy.read(run, score=COLUMN)
    assert pool.scored is not None
    assert pool.scored.tolist() == asked_in(run)
    notes = [note["about"] for note in journal(run, "note")]
    assert notes[:2] == ["frugal", "score"]
    assert notes[-1] == "frugal-end"
    with pytest.raises(sy.SteelyardError, match=r"were not requested .* 'steelyard score' without --frugal"):
        sy.CalibratedVote().fit(pool)


def test_the_same_command_again_asks_nothing_and_writes_nothing(
    tmp_path: Path, server: FaultVerifier, plan: Path
) -> None:
    run = mixed_run(tmp_path / "run")
    assert frugal(run, server, plan, "--frugal").code == 0
    before, asked = (run / "journal.jsonl").read_bytes(), len(server.asked())
    again = frugal(run, server, plan, "--frugal")
    assert len(server.asked()) == asked
    assert json.loads(again.out)["new"] == 0
    assert (run / "journal.jsonl").read_bytes() == before


def test_going_on_to_all_scores_gives_the_table_of_a_full_run(
    tmp_path: Path, server: FaultVerifier, plan: Path
) -> None:
    run = mixed_run(tmp_path / "run")
    first = json.loads(frugal(run, server, plan, "--frugal").out)
    rest = json.loads(steelyard(*p_true_words(run, server)).out)
    assert set(questions_asked(server).values()) == {1}
    assert rest["new"] == first["not_scored"]
    assert all(asked_in(run))
    assert sy.read(run, score=COLUMN).scored is None
    ours, all_scores = (
        table[COLUMN].list.first() for table in (pl.read_parquet(run / "table.parquet"), scores_of(run))
    )
    assert ours.to_list() == pytest.approx(all_scores.to_list())


def test_a_walk_that_was_cut_off_anywhere_ends_with_the_same_scores(
    tmp_path: Path, server: FaultVerifier, plan: Path
) -> None:
    """The journal of a finished walk, cut after any record, leads to the same table."""
    run = mixed_run(tmp_path / "run", questions=4)
    assert frugal(run, server, plan, "--frugal", "exact").code == 0
    whole = pl.read_parquet(run / "table.parquet")
    lines = (run / "journal.jsonl").read_bytes().splitlines(keepends=True)
    for cut in range(33, len(lines), 7):
        (run / "journal.jsonl").write_bytes(b"".join(lines[:cut]))
        (run / "table.parquet").unlink()
        (run / "table.json").unlink()
        kept = len(journal(run, "score"))
        said = json.loads(frugal(run, server, plan, "--frugal", "exact").out)
        assert said["new"] == whole[COLUMN].count() - kept
        assert pl.read_parquet(run / "table.parquet").equals(whole)


def test_equal_texts_are_read_once_and_share_the_score(tmp_path: Path, server: FaultVerifier, plan: Path) -> None:
    run = mixed_run(tmp_path / "run", copies=True)
    said = json.loads(frugal(run, server, plan, "--frugal", "exact").out)
    assert set(questions_asked(server).values()) == {1}
    assert said["new"] < said["copied"]
    assert sum(asked_in(run)) == said["new"] + said["copied"]
    assert {record["copy_of"] for record in journal(run, "score") if "copy_of" in record}
    assert sy.vote(run, plan)["answer"].to_list() == verdicts_with_all_scores(run, plan)


def test_copies_that_a_killed_command_left_without_their_score_get_it_unasked(
    tmp_path: Path, server: FaultVerifier, plan: Path
) -> None:
    run = mixed_run(tmp_path / "run", copies=True)
    assert frugal(run, server, plan, "--frugal", "exact").code == 0
    whole = pl.read_parquet(run / "table.parquet")
    lines = (run / "journal.jsonl").read_bytes().splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if b"copy_of" in line)
    (run / "journal.jsonl").write_bytes(b"".join(lines[:first]))
    (run / "table.parquet").unlink()
    (run / "table.json").unlink()
    assert frugal(run, server, plan, "--frugal", "exact").code == 0
    reads = questions_asked(server)
    assert pl.read_parquet(run / "table.parquet").equals(whole)
    kept = next(record for record in journal(run, "score"))
    assert min(reads.values()) == 1, f"what was kept ({kept['question']}) is not read again"


def test_a_verifier_that_fails_for_some_is_missing_there_and_the_walk_goes_on(
    tmp_path: Path, server: FaultVerifier, plan: Path
) -> None:
    run = mixed_run(tmp_path / "run")
    words = [*p_true_words(run, server, "--plan", plan, "--frugal", "exact", "--max-failures", 20)]
    words[words.index("good")] = "neither?Try 0."
    done = steelyard(*words)
    assert done.code == 0, done.err
    said = json.loads(done.out)
    assert sum(said["failures"].values()) >= 1
    pool = sy.read(run, score=COLUMN)
    table = pl.read_parquet(run / "table.parquet")
    failed = table.filter(pl.col(COLUMN).is_null() & pl.col(f"{COLUMN}:scored"))
    assert failed.height == sum(said["failures"].values())
    assert all("Try 0." in text for text in failed["response"])
    full = scores_of(run).with_columns(
        pl.when(pl.col("response").str.contains("Try 0.", literal=True)).then(None).otherwise(COLUMN).alias(COLUMN)
    )
    assert sy.vote(run, plan)["answer"].to_list() == sy.vote(full, plan, score=COLUMN)["answer"].to_list()
    assert pool.scored is not None


def test_too_many_failures_stop_it_and_what_was_scored_is_saved(
    tmp_path: Path, server: FaultVerifier, plan: Path
) -> None:
    run = mixed_run(tmp_path / "run")
    words = [*p_true_words(run, server, "--plan", plan, "--frugal", "exact", "--max-failures", 0)]
    words[words.index("good")] = "neither?Try 0."
    done = steelyard(*words)
    assert done.code == 2
    assert "new scores are saved" in done.err
    assert not sy.status(run)["bills"][COLUMN]["finished"]


def test_another_rule_or_plan_goes_on_from_the_scores_that_are_there_and_says_so(
    tmp_path: Path, server: FaultVerifier
) -> None:
    run, plan = mixed_run(tmp_path / "run"), plan_for(tmp_path / "plan.json", expected=True)
    other = plan_for(tmp_path / "other.json", method="logit")
    first = json.loads(frugal(run, server, plan, "--frugal").out)
    assert first["rule"] == "expected"
    done = frugal(run, server, other, "--frugal", "exact")
    assert set(questions_asked(server).values()) == {1}
    assert done.code == 0
    assert "was scored by the rule expected" in done.err
    assert f"from the {first['new']} existing scores" in done.err
    assert sy.vote(run, other)["answer"].to_list() == verdicts_with_all_scores(run, other)


@pytest.mark.parametrize(
    ("plan", "more", "said"),
    [
        (None, ("--frugal", "exact"), "--frugal needs a plan: name one with --plan"),
        (COLUMN, (), "a plan is for scoring on demand: add --frugal"),
        ("one number", ("--frugal", "exact"), "uses 'p-true', one number per response, but a verifier scores steps"),
        (COLUMN, ("--frugal", "exakt"), "did you mean 'exact'?"),
        (COLUMN, ("--frugal", "expected"), "fit it with --frugal expected, or use the rule 'exact'"),
        ("prm", ("--frugal", "exact"), "uses the score 'prm:last', but these scores are 'p-true'"),
        ("majority", ("--frugal", "exact"), "uses no scores: leave out --frugal and the verifier"),
    ],
)
def test_mistakes_are_one_line_with_the_fix_before_anything_is_asked(
    tmp_path: Path, plan: str | None, more: tuple[object, ...], said: str
) -> None:
    run, words = small_run(tmp_path / "run", questions=1, samples=2), list(more)
    if plan == "majority":
        words += ["--plan", plan_for(tmp_path / "plan.json", method="majority")]
    elif plan == "one number":
        sy.LogitVote().fit(sy.read_labelled(sy.simulate(20, 4).rename({"score": COLUMN}))).save(tmp_path / "plan.json")
        words += ["--plan", tmp_path / "plan.json"]
    elif plan:
        words += ["--plan", plan_for(tmp_path / "plan.json", plan)]
    at = ("--upstream", "http://127.0.0.1:9/v1")
    done = steelyard("score", run, "--verifier", "p-true", *at, *words)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1


class LoudestVote(sy.Method):
    """Weighs by the rank of a score, which gives no bounds."""

    def weigh(self, pool: sy.Pool) -> Any:
        return pool.known_scores**2


def test_a_method_without_bounds_is_told_which_rule_is_possible(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", questions=1, samples=2)
    table = sy.simulate(20, 4).with_columns(pl.concat_list("score").alias("logprob"))
    voter = LoudestVote().fit(sy.read(table, score="logprob"))
    with pytest.raises(sy.SettingError, match=r"gives no bounds .* use 'expected', or a plan of calibrated"):
        sy.score(run, "logprob", plan=voter, frugal="exact")


def test_responses_without_an_answer_are_one_line(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", questions=2, samples=2, response="I do not know.")
    plan = plan_for(tmp_path / "plan.json", "logprob")
    done = steelyard("score", run, "--verifier", "logprob", "--plan", plan, "--frugal", "exact")
    assert done.code == 2
    assert "no response has a readable answer" in done.err
    assert done.err.count("\n") == 1


def test_a_file_is_scored_on_demand_and_the_end_says_how_many_were_not_needed(tmp_path: Path) -> None:
    plan = plan_for(tmp_path / "plan.json", "logprob")
    rows = [
        {"question": f"q{i}", "response": f"The answer is {1 + (j < i)}.", "logprobs": [-0.1 * (j + 1)]}
        for i in range(4)
        for j in range(6)
    ]
    pl.DataFrame(rows).write_ndjson(tmp_path / "mine.jsonl")
    done = steelyard("score", tmp_path / "mine.jsonl", "--verifier", "logprob", "--plan", plan, "--frugal")
    assert done.code == 0, done.err
    assert "responses (" in done.out
    assert "were not scored: their scores could not change a verdict (rule exact)." in done.out
    assert f"Next: steelyard vote {tmp_path / 'mine.scored'} --plan {plan}" in done.out
    assert steelyard("vote", tmp_path / "mine.scored", "--plan", plan, "-o", tmp_path / "v.csv").code == 0


def test_a_run_that_needs_no_score_at_all_has_its_column_and_a_vote(tmp_path: Path) -> None:
    run = mixed_run(tmp_path / "run", questions=1)
    plan = plan_for(tmp_path / "plan.json", "logprob")
    said = sy.score(run, "logprob", plan=plan, frugal=True)
    assert (said.new, said.not_scored) == (0, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "the plan was fitted at")
        assert sy.vote(run, plan)["answer"].to_list() == ["1"]


def test_the_bill_counts_responses_tokens_seconds_and_money(tmp_path: Path, server: FaultVerifier, plan: Path) -> None:
    run = mixed_run(tmp_path / "run")
    said = json.loads(frugal(run, server, plan, "--frugal", "exact").out)
    bill = sy.status(run, price_response=0.5)["bills"][COLUMN]
    assert (bill["read"], bill["not_scored"], bill["finished"]) == (said["new"], said["not_scored"], True)
    assert (bill["tokens_read"], bill["tokens_not_read"]) == (10 * said["new"], 10 * said["not_scored"])
    assert bill["cost"] == pytest.approx(0.5 * said["new"])
    assert bill["saved"] == pytest.approx(0.5 * said["not_scored"])
    assert bill["seconds"] > 0
    per_response = bill["seconds"] / said["new"]
    assert bill["seconds_saved"] == pytest.approx(per_response * said["not_scored"], rel=0.01, abs=0.002)  # rounded
    shown = steelyard("status", run, "--price-response", 0.5).out
    for words in ("not scored", "were read", "tokens of responses", "seconds of the verifier", "money: "):
        assert words in shown
    assert steelyard("status", run, "--price-response", -1).code == 2
    with Run.open(run) as opened:
        assert len(opened.state.scores[COLUMN].done) == said["new"]


def committee_plan(path: Path) -> Path:
    """A committee of ant and bee that knows what the scores of bee are worth, and asks for no others."""
    table = scored_committee({"ant": 0.5, "bee": 0.45}, {"bee": 4.0}, questions=60)
    pool = sy.read_labelled(
        table.with_columns(pl.concat_list("score").alias(COLUMN)).drop("score"),
        source="llm", score=COLUMN, answers="exact",
    )  # fmt: skip
    learn_asking(sy.CommitteeVote().fit(pool), pool, price=0.0001).save(path)
    return path


def run_of_two(folder: Path, questions: int = 4, samples: int = 3) -> Path:
    """A run of ant and bee, who never agree."""
    ids = [f"q{i}" for i in range(questions)]
    table = pl.DataFrame({"question": ids, "prompt": [f"What is {i} + 1?" for i in range(questions)]})
    about = {"finish": "stop", "tokens": 10, "logprob": -0.1, "seed": 1, "attempts": 1}
    records = [
        {
            "kind": "sample", "question": name, "sample": number_of(j, place), "source": who, "model": who,
            "response": f"I am {who} {j}.\n\nThe answer is \\boxed{{{j + 10 * place}}}.", **about,
        }
        for name in ids
        for j in range(samples)
        for place, who in enumerate(("ant", "bee"))
    ]  # fmt: skip
    sources = {who: {"model": who, "upstream": ""} for who in ("ant", "bee")}
    with Run.start(folder, Manifest("0" * 64, "", samples, sources=sources), table) as run:
        run.add_now(records)
    return folder


def test_a_committee_asks_on_demand_for_the_scores_of_the_sources_that_it_heeds(
    tmp_path: Path, server: FaultVerifier
) -> None:
    run, plan = run_of_two(tmp_path / "run"), committee_plan(tmp_path / "plan.json")
    done = frugal(run, server, plan, "--frugal")
    assert done.code == 0, done.err
    table = pl.read_parquet(run / "table.parquet")
    asked = dict(table.group_by("llm").agg(pl.col(f"{COLUMN}:scored").sum()).iter_rows())
    assert asked["ant"] == 0
    assert 0 < asked["bee"] == sum(questions_asked(server).values())
    seen = replay(
        asking_rule("expected"), sy.load(plan), sy.read(scores_of(run), score=COLUMN, source="llm", answers="exact")
    )
    assert sy.vote(run, plan)["answer"].to_list() == sy.load(plan).predict(seen).answer.tolist()


def test_a_committee_that_has_not_learned_to_ask_and_a_run_without_sources_are_refused(
    tmp_path: Path, server: FaultVerifier
) -> None:
    plan = committee_plan(tmp_path / "plan.json")
    alone = frugal(small_run(tmp_path / "alone"), server, plan, "--frugal")
    assert (alone.code, "weighs the sources of 'llm'" in alone.err) == (2, True)
    voter = sy.load(plan)
    voter.asking_ = None
    voter.save(tmp_path / "unlearned.json")
    unlearned = frugal(run_of_two(tmp_path / "run"), server, tmp_path / "unlearned.json", "--frugal")
    assert (unlearned.code, "score everything, without --frugal" in unlearned.err) == (2, True)
