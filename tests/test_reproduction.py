"""The paper's tables and figures, on a small simulated grid: each against another way to the same figure."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import gaussian_kde

import steelyard as sy
from docs.reproduction import reproduction_page, results
from steelyard.evaluation.curves import default_sizes
from steelyard.reproduction.cache import Cache, cache_folder
from steelyard.reproduction.experiment import experiment, experiment_names
from steelyard.reproduction.grid import Grid, Pair
from steelyard.reproduction.measuring import ALL, accuracies
from steelyard.reproduction.running import Reproduction, Result, reproduce
from steelyard.reproduction.settings import Settings
from steelyard.reproduction.shown import Shown
from steelyard.reproduction.sources import GridSource
from steelyard.reproduction.writing import write_all
from steelyard.weights.logit import evidence, logit
from tests.building import labelled
from tests.running import steelyard

SETTINGS = Settings(seed=3, runs=2, resamples=4, again=1)
QUESTIONS, N = 120, 8
TABLES = [name for name in experiment_names() if experiment(name).show]
FIGURES = [name for name in experiment_names() if experiment(name).draw]


def responses(seed: int) -> pl.DataFrame:
    """Responses of one model in three domains, with two verifiers and a self-assessment."""
    table = sy.simulate(QUESTIONS, N, seed=seed, world=sy.World(gap=3.0)).rename({"score": "prm_a"})
    rng = np.random.default_rng(seed)
    noisy = {name: (0.6 * table["prm_a"] + 0.4 * rng.random(table.height)) for name in ("prm_b", "self_p")}
    kind = pl.col("question").str.slice(1).cast(pl.Int64) % 3
    return table.with_columns(**noisy, domain=pl.lit("d") + kind.cast(pl.String))


def wrote(folder: Path, **tables: pl.DataFrame) -> Path:
    folder.mkdir(exist_ok=True)
    for name, table in tables.items():
        sy.write(table, folder / f"{name}.parquet")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wrote(tmp_path_factory.mktemp("grid"), alpha=responses(1), beta=responses(2))


@pytest.fixture(scope="module")
def made(folder: Path) -> Reproduction:
    return reproduce(list(experiment_names()), GridSource.at(folder), SETTINGS, Cache(None))


@pytest.fixture(scope="module")
def rows(made: Reproduction) -> dict[str, pl.DataFrame]:
    return {result.name: result.rows for result in made.results}


@pytest.fixture(scope="module")
def pool() -> sy.LabelledPool:
    """alpha as judged by prm_a, read without the grid."""
    return labelled(responses(1), score="prm_a")


def one(rows: pl.DataFrame, **where: Any) -> dict[str, Any]:
    found = rows.filter(**where)
    assert found.height == 1, found
    return found.row(0, named=True)


def share_right(vote: sy.Method, cal: sy.LabelledPool, test: sy.LabelledPool) -> float:
    return float(sy.accuracy(vote.fit(cal).predict(test), test))


def plain_splits(pool: sy.LabelledPool) -> list[tuple[sy.LabelledPool, sy.LabelledPool]]:
    reserve, test = pool.split(0.4, seed=3)
    return [(reserve.split(0.5, seed=3)[0], test), (reserve.split(0.5, seed=4)[0], test)]


@pytest.mark.parametrize("name", experiment_names())
def test_every_experiment_is_made_and_says_what_it_found(name: str, made: Reproduction) -> None:
    result = next(result for result in made.results if result.name == name)
    assert result.missing is None
    assert result.rows.height
    assert len(result.finding.title) < 110
    assert re.search(r"\d", result.finding.ours)
    assert (result.experiment.show is None) != (result.experiment.draw is None)


def test_table1_is_the_mean_and_spread_over_calibration_sets(
    rows: dict[str, pl.DataFrame], pool: sy.LabelledPool
) -> None:
    cell = one(rows["table1"], llm="alpha", verifier="prm_a", method="logit")
    by_run = [share_right(sy.LogitVote(), cal, test) for cal, test in plain_splits(pool)]
    assert cell["accuracy"] == pytest.approx(np.mean(by_run))
    assert cell["sd"] == pytest.approx(np.std(by_run, ddof=1))
    right = np.mean([sy.LogitVote().fit(c).predict(t).right(t) for c, t in plain_splits(pool)], axis=0)
    assert cell["se"] == pytest.approx(right.std(ddof=1) / np.sqrt(len(right)))
    assert cell["over_vanilla"] == pytest.approx(
        cell["accuracy"] - one(rows["table1"], llm="alpha", verifier="prm_a", method="vanilla")["accuracy"]
    )


def test_the_control_stands_beside_the_printed_optimum(rows: dict[str, pl.DataFrame], pool: sy.LabelledPool) -> None:
    _, test = plain_splits(pool)[0]
    noise = test.with_shuffled_scores(3)
    for name in ("optimal", "optimal-crossfit"):
        vote = sy.method_class(name)()
        for method, on in ((name, test), (f"{name}-shuffled", noise)):
            cell = one(rows["table-n112"], llm="alpha", verifier="prm_a", method=method)
            assert cell["accuracy"] == pytest.approx(float(sy.accuracy(vote.predict(on), on)))
    assert "pure noise" in experiment("table1").find(rows["table1"]).ours


def test_table_self_reads_the_self_assessments_only(rows: dict[str, pl.DataFrame]) -> None:
    assert set(rows["table-self"]["verifier"]) == {"self_p"}
    assert "self_p" not in set(rows["table1"]["verifier"])
    sets = plain_splits(labelled(responses(2), score="self_p"))
    cell = one(rows["table-self"], llm="beta", method="linear")
    assert cell["accuracy"] == pytest.approx(np.mean([share_right(sy.LinearVote(), *pair) for pair in sets]))


def test_table_ablation_replaces_one_term(rows: dict[str, pl.DataFrame], pool: sy.LabelledPool) -> None:
    for name in ("kde-optimal-prm", "kde-optimal-llm"):
        found = [share_right(sy.method_class(name)(), *pair) for pair in plain_splits(pool)]
        cell = one(rows["table-ablation"], llm="alpha", verifier="prm_a", method=name)
        assert cell["accuracy"] == pytest.approx(np.mean(found))


def test_table_domains_and_transfer_stay_within_and_leave_the_domain(rows: dict[str, pl.DataFrame]) -> None:
    table = responses(1)
    name = one(rows["table-domains"], llm="alpha", domain="d1", method="linear")["verifier"]
    inside, outside = (
        labelled(table.filter(is_in), score=name) for is_in in (pl.col("domain") == "d1", pl.col("domain") != "d1")
    )
    cal, test = inside.split(1 / 3, seed=3)
    cell = one(rows["table-domains"], llm="alpha", domain="d1", method="linear")
    assert cell["accuracy"] == pytest.approx(share_right(sy.LinearVote(), cal, test))
    cell = one(rows["table-transfer"], llm="alpha", domain="d1", method="linear")
    assert cell["accuracy"] == pytest.approx(share_right(sy.LinearVote(), inside, outside))
    assert cell["questions"] == outside.n_questions


def test_table_variance_is_the_error_between_scaled_functions(
    rows: dict[str, pl.DataFrame], pool: sy.LabelledPool
) -> None:
    cal, test = plain_splits(pool)[0]
    scores = np.linspace(0.01, 0.99, 99)
    vote = sy.KDEVote().fit(cal)
    whole = np.array([vote.weight(p) for p in scores])
    errors = []
    for q in range(test.n_questions):
        part = test.take([q])
        z, right = evidence(part.known_scores[part.readable]), part.correct[part.readable]
        if min(right.sum(), (~right).sum()) < 3:
            continue
        f1, f0 = (_scipy_density(z[right == kind], evidence(scores)) for kind in (True, False))
        errors.append(np.mean((_scaled(np.log(f1 + 1e-6) - np.log(f0 + 1e-6)) - _scaled(whole)) ** 2))
    cell = one(rows["table-variance"], llm="alpha", verifier="prm_a")
    assert cell["questions"] == len(errors) > 5
    assert cell["mse"] == pytest.approx(np.mean(errors), rel=1e-6)


def _scipy_density(z: Any, x: Any) -> Any:
    spread = np.std(z, ddof=1)
    if spread * (0.75 * len(z)) ** -0.2 < 0.01:
        return np.mean([np.exp(-0.5 * ((x - point) / 0.01) ** 2) for point in z], axis=0) / (0.01 * np.sqrt(2 * np.pi))
    return gaussian_kde(z, bw_method=(0.75 * len(z)) ** -0.2)(x)


def _scaled(values: Any) -> Any:
    return (values - values.min()) / (values.max() - values.min()) - 0.5


def test_table_pseudo_keeps_the_scores_of_each_kind(rows: dict[str, pl.DataFrame]) -> None:
    from steelyard.reproduction.experiments._pseudo import pseudo

    name = one(rows["table-pseudo"], llm="alpha", method="vanilla")["scores_of"]
    pool = labelled(responses(1), score=name)
    dealt = pseudo(pool, 3)
    for kind in (True, False):
        mask = pool.correct == kind
        assert np.array_equal(np.sort(pool.known_scores[mask]), np.sort(dealt.known_scores[mask]))
    assert not np.array_equal(pool.known_scores, dealt.known_scores)
    _, test = dealt.split(0.4, seed=3)
    cell = one(rows["table-pseudo"], llm="alpha", method="vanilla")
    assert cell["accuracy"] == pytest.approx(float(sy.accuracy(sy.VanillaVote().predict(test), test)))


def test_table_compute_and_fig_scaling_follow_the_curves(rows: dict[str, pl.DataFrame], pool: sy.LabelledPool) -> None:
    cal, test = plain_splits(pool)[0]
    found = sy.curves(["vanilla", "logit"], cal, test, n=sy.fine_sizes(N), resamples=4, seed=3)
    match = sy.compute_to_match(found, "logit", "vanilla", seed=3)
    cell = one(rows["table-compute"], llm="alpha", verifier="prm_a", method="logit", baseline="vanilla")
    assert (cell["fraction"], cell["low"]) == (match.fraction, match.fraction_low)
    assert cell["break_even"] == match.break_even(cal.n_responses)
    curve = rows["fig-scaling"]
    assert curve.filter(method="logit")["n"].to_list() == sy.fine_sizes(N)
    assert curve.filter(method="kde")["n"].to_list() == default_sizes(N)
    tests = [
        labelled(responses(seed), score=name).split(0.4, seed=3)[1] for seed in (1, 2) for name in ("prm_a", "prm_b")
    ]
    passed = np.mean([np.add.reduceat(t.correct, t.starts[:-1]).astype(bool).mean() for t in tests])
    assert one(curve, method="pass-at-n", n=N)["accuracy"] == pytest.approx(passed)
    assert one(curve, method="logit", n=1)["accuracy"] == pytest.approx(np.mean([t.correct.mean() for t in tests]))


def test_fig_offset_is_the_accuracy_of_the_vote_with_that_offset(rows: dict[str, pl.DataFrame]) -> None:
    for form, b in (("linear", 0.5), ("logit", 0.7)):
        cell = (
            rows["fig-offset"]
            .filter((pl.col("llm") == "alpha") & (pl.col("form") == form) & ((pl.col("b") - b).abs() < 1e-9))
            .row(0, named=True)
        )
        cal = labelled(responses(1), score=cell["verifier"]).split(0.4, seed=3)[0]
        p = cal.known_scores.astype(float)
        weights = p - b if form == "linear" else evidence(p) - logit(b)
        assert cell["accuracy"] == pytest.approx(sy.tally(cal, weights).right(cal).mean(), abs=1.5 / cal.n_questions)


def test_fig_calibration_size_ends_with_all_there_is(rows: dict[str, pl.DataFrame]) -> None:
    cell = one(rows["fig-calibration-size"], llm="beta", method="logit", size=QUESTIONS // 2)
    cal, test = labelled(responses(2), score=cell["verifier"]).split(0.5, seed=3)
    assert cell["accuracy"] == pytest.approx(share_right(sy.LogitVote(), cal, test))


def test_fig_weights_has_densities_of_area_one_and_a_true_zero(rows: dict[str, pl.DataFrame]) -> None:
    table = rows["fig-weights"]
    for _, part in table.filter(pl.col("kind") != "weight").group_by("pair", "kind"):
        assert part["value"].to_numpy().sum() / 25 == pytest.approx(1.0)
    shown = table.filter(pl.col("pair") == "alpha · prm_a")
    vote = sy.KDEVote().fit(plain_splits(labelled(responses(1), score="prm_a"))[0][0])
    assert vote.weight(shown["zero"][0] - 0.02) < 0 < vote.weight(shown["zero"][0] + 0.02)


def test_fig_question_weights_draws_the_global_function(rows: dict[str, pl.DataFrame]) -> None:
    table = rows["fig-question-weights"].filter(function="all questions")
    pool = labelled(responses(1 if table["llm"][0] == "alpha" else 2), score=table["verifier"][0])
    vote = sy.KDEVote().fit(plain_splits(pool)[0][0])
    assert table["weight"][10] == pytest.approx(vote.weight(table["score"][10]))


def test_fig_reliability_compares_with_a_constant(rows: dict[str, pl.DataFrame], pool: sy.LabelledPool) -> None:
    cal, test = plain_splits(pool)[0]
    true = np.array([test.take([q]).correct.mean() for q in range(test.n_questions)])
    cell = one(rows["fig-reliability"], llm="alpha", verifier="prm_a", source="constant")
    assert cell["error"] == pytest.approx(np.abs(true - cal.correct.mean()).mean())
    better = one(rows["fig-reliability"], llm="alpha", verifier="prm_a", source="estimated from scores")
    assert 0 < better["error"] < cell["error"]


def test_the_grid_says_how_well_its_verifiers_discriminate(
    rows: dict[str, pl.DataFrame], pool: sy.LabelledPool
) -> None:
    right, wrong = pool.known_scores[pool.correct], pool.known_scores[~pool.correct]
    above = (right[:, None] > wrong).mean() + (right[:, None] == wrong).mean() / 2
    assert one(rows["grid"], llm="alpha", verifier="prm_a")["auroc"] == pytest.approx(above)


def test_where_verifiers_discriminate_the_main_findings_hold_and_on_noise_they_do_not() -> None:
    pools = [labelled(sy.simulate(400, 16, seed=seed, world=sy.World(gap=2.5))) for seed in (1, 2)]
    strong = Grid.of({(f"m{i}", "v"): (pool, None) for i, pool in enumerate(pools)})
    noise = Grid.of({(f"m{i}", "v"): (pool.with_shuffled_scores(0), None) for i, pool in enumerate(pools)})
    for name in ("table1", "table-compute", "fig-offset"):
        for grid, holds in ((strong, True), (noise, False)):
            assert experiment(name).find(experiment(name).measure(grid, SETTINGS)).holds is holds, (name, holds)


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A grid with everything that can be wrong with one."""
    alpha, beta = responses(1), responses(2)
    some = alpha.filter(pl.col("question") < "q080").drop("prm_a", "prm_b", "self_p", "domain")
    return wrote(
        tmp_path_factory.mktemp("bad") / "grid",
        alpha=alpha,
        beta=beta.drop("prm_b", "domain")
        .filter(pl.col("sample") < pl.when(pl.col("question") > "q050").then(6).otherwise(5)),
        gamma=beta.drop("correct"),
        delta=alpha.select("question", "answer", "correct"),
        tiny=alpha.filter(pl.col("question") < "q010"),
        **{"alpha--other": some.with_columns(score=alpha["prm_a"][: some.height])},
    )  # fmt: skip


def test_everything_wrong_with_a_grid_is_said_and_the_rest_is_made(bad: Path, tmp_path: Path) -> None:
    (bad / "broken.parquet").write_bytes(b"PAR1 no")
    made = reproduce(["table1", "table-domains"], GridSource.at(bad), SETTINGS, Cache(None))
    said = " ".join(made.problems)
    for text in (
        "Unequal sample counts within beta with prm_a, beta with self_p",
        "Sample counts are unequal between pairs",
        "No labels (a column 'correct' or 'gold'): left out are gamma with prm_a, gamma with prm_b, gamma with self_p.",
        "delta.parquet is left out: it has no column of scores",
        "Fewer than 60 questions: left out are tiny with prm_a",
        "broken.parquet is left out",
        "The grid has no pair beta with other, beta with prm_b",
        "The verifiers of alpha judged different questions: other",
        "No column 'domain' for alpha with other, beta with prm_a",
    ):
        assert text in said, f"{text}\n{said}"
    table1 = next(result for result in made.results if result.name == "table1")
    pairs = set(table1.rows.select("llm", "verifier").iter_rows())
    assert pairs == {("alpha", "prm_a"), ("alpha", "prm_b"), ("alpha", "other"), ("beta", "prm_a")}
    write_all(made, tmp_path / "out", Cache(None))
    page = (tmp_path / "out" / "index.html").read_text()
    assert "left out are gamma with prm_a" in page
    assert table1.rows["n"][0] == 6


def test_a_pair_that_cannot_be_calibrated_is_said_and_the_others_are_measured(tmp_path: Path) -> None:
    one_wrong = pl.col("question") == "q000"
    easy = responses(2).with_columns(answer=pl.lit("7"), correct=~one_wrong)
    grid = wrote(tmp_path / "grid", alpha=responses(1), easy=easy)
    names = ["table1", "fig-scaling", "table-transfer", "fig-offset"]
    cache = Cache(tmp_path / "cache")
    made = reproduce(names, GridSource.at(grid), SETTINGS, cache)
    assert "easy with prm_a cannot be measured and is left out: the calibration set has" in " ".join(made.problems)
    assert [result.missing for result in made.results] == [None] * 4
    assert set(next(r for r in made.results if r.name == "table1").rows["llm"]) == {"alpha"}
    assert reproduce(names, GridSource.at(grid), SETTINGS, cache).problems == made.problems


def test_without_domains_the_tables_by_domain_say_so_and_the_others_are_made(tmp_path: Path) -> None:
    grid = wrote(tmp_path / "grid", alpha=responses(1).drop("domain", "self_p"))
    done = steelyard(
        "reproduce", "table-domains", "table-self", "grid", "--grid", grid, "-o", tmp_path / "out", "--no-cache"
    )
    assert done.code == 0, done.err
    assert re.search(r"table-domains +not made", done.out)
    page = (tmp_path / "out" / "index.html").read_text()
    assert "the grid has no column" in page
    assert "there are no self-assessments" in page
    assert (tmp_path / "out" / "grid.md").exists()
    assert not (tmp_path / "out" / "table-domains.md").exists()


def test_a_second_run_reads_no_table_and_a_damaged_result_is_made_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(tmp_path / "cache")
    source = GridSource.at(folder)
    first = reproduce(["grid"], source, SETTINGS, cache)
    with monkeypatch.context() as patch:
        patch.setattr(GridSource, "load", lambda *_: pytest.fail("the grid was read again"))
        again = reproduce(["grid"], source, SETTINGS, cache)
    assert again.results[0].rows.equals(first.results[0].rows)
    (kept,) = (tmp_path / "cache").glob("grid-*.parquet")
    kept.write_bytes(kept.read_bytes()[:50])
    assert reproduce(["grid"], source, SETTINGS, cache).results[0].rows.equals(first.results[0].rows)
    assert pl.read_parquet(kept).equals(first.results[0].rows)


def test_other_settings_or_another_grid_are_other_results(folder: Path, tmp_path: Path) -> None:
    cache, source = Cache(tmp_path), GridSource.at(folder)
    cache.keep("grid", source.key, SETTINGS, pl.DataFrame({"a": [1]}))
    assert cache.table("grid", source.key, SETTINGS) is not None
    assert cache.table("grid", source.key, Settings(seed=4)) is None
    assert cache.table("grid", GridSource.at(folder, quick=True).key, SETTINGS) is None
    assert cache.table("table1", source.key, SETTINGS) is None


def test_drawings_are_kept_and_checked(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    calls: list[int] = []

    def make() -> bytes:
        calls.append(1)
        return b"drawn"

    assert cache.file("chart", "svg", make) == cache.file("chart", "svg", make) == b"drawn"
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(b"x" * 40)
    assert cache.file("chart", "svg", make) == b"drawn"
    assert len(calls) == 2


def test_the_cache_lies_where_the_user_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "steelyard"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "steelyard"


@pytest.mark.parametrize("name", TABLES)
def test_markdown_and_latex_are_well_formed(name: str, rows: dict[str, pl.DataFrame]) -> None:
    show = experiment(name).show
    assert show
    table = show(rows[name])
    piped = [line for line in table.markdown().splitlines() if line.startswith("|")]
    assert len(piped) == len(table.rows) + 2
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in piped} == {len(table.head) + 1}
    latex = table.latex()
    lines = [line for line in latex.splitlines() if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {len(table.head) - 1}
    assert len(re.findall(r"(?<!\\)\{", latex)) == len(re.findall(r"(?<!\\)\}", latex))
    assert not re.search(r"(?<!\\)[_#]", "\n".join(lines))
    assert latex.rstrip().endswith(r"\end{tabular}")


def test_odd_names_do_not_break_a_table() -> None:
    table = Shown(["a|b", "x_y"], [["50 % & more", r"\x{~}^"]], bold=frozenset({(0, 1)}))
    assert table.latex().count(r"\%") == 1
    assert r"\textbf{\textbackslash{}x\{\textasciitilde{}\}\textasciicircum{}}" in table.latex()
    assert r"| a\|b | x_y |" in table.markdown()
    assert "50 % &amp; more" in table.html()


def test_the_folder_has_every_format_and_a_page_without_a_network(made: Reproduction, tmp_path: Path) -> None:
    write_all(made, tmp_path, Cache(None))
    for name in TABLES:
        assert all((tmp_path / f"{name}.{kind}").stat().st_size for kind in ("md", "csv", "tex")), name
    for name in FIGURES:
        assert all((tmp_path / f"{name}.{kind}").stat().st_size for kind in ("png", "svg", "html", "csv")), name
        assert not re.search(r"<(script|link)[^>]+(src|href)=", (tmp_path / f"{name}.html").read_text())
    page = (tmp_path / "index.html").read_text()
    targets = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert not [t for t in targets if not (t.startswith(("data:", "#")) or (tmp_path / t).exists())]
    assert "url(" not in page
    assert "<script" not in page
    for result in made.results:
        assert f'id="{result.name}"' in page
    assert pl.read_csv(tmp_path / "table1.csv").height == made.results[1].rows.height


def test_the_same_seed_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    words = ("reproduce", "table1", "fig-offset", "--grid", folder, "--quick", "--no-cache", "--seed", 5)
    for run in ("one", "two"):
        assert steelyard(*words, "-o", tmp_path / run).code == 0
    for file in sorted((tmp_path / "one").iterdir()):
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes(), file.name


def test_without_a_name_it_lists_what_there_is() -> None:
    done = steelyard("reproduce")
    assert done.code == 0
    assert all(name in done.out for name in experiment_names())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tabel1",), "did you mean 'table1'"),
        (("table1", "--grid", "nowhere"), "nowhere is not a folder"),
        (("table1", "--seed", "-1"), "--seed"),
        (("table1", "-o", "/proc/none"), "cannot make the folder"),
    ],
)
def test_a_mistake_is_one_line(
    words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = steelyard("reproduce", *words)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1


def test_a_folder_without_tables_or_pairs_is_a_mistake(tmp_path: Path) -> None:
    assert "has no tables" in steelyard("reproduce", "all", "--grid", tmp_path, "-o", tmp_path / "out").err
    wrote(tmp_path, alpha=responses(1).drop("correct"))
    done = steelyard("reproduce", "table1", "--grid", tmp_path, "-o", tmp_path / "out", "--no-cache")
    assert done.code == 2
    assert "there is no pair to measure" in done.err


def test_a_grid_made_of_pools_has_a_key_of_its_content(pool: sy.LabelledPool) -> None:
    first, same = (Grid.of({("a", "v"): (pool, None)}) for _ in range(2))
    other = Grid.of({("a", "v"): (pool.with_shuffled_scores(0), None)})
    assert first.key == same.key != other.key


def test_the_page_in_the_docs_is_made_from_the_stored_results() -> None:
    page = Path(__file__).parent.parent / "docs" / "reproduction.md"
    assert page.read_text() == reproduction_page(results()), "run 'python -m docs.reproduction'"


def test_the_stored_results_are_those_of_the_bundled_grid() -> None:
    stored = next(result for result in results() if result.name == "table1").rows
    llm, verifier = stored.row(0)[:2]
    found = pl.DataFrame(accuracies(Pair(llm, verifier, sy.load_grid(llm, verifier)), ALL, Settings(), stored["n"][0]))
    kept = stored.filter((pl.col("llm") == llm) & (pl.col("verifier") == verifier))
    for name in ("accuracy", "sd", "se"):
        assert kept[name].to_numpy() == pytest.approx(found[name].to_numpy()), "run 'python -m docs.reproduction'"


def test_a_finding_changes_with_the_rows() -> None:
    """The verdict is computed, not written down: a grid where logit wins says so."""
    stored = next(result for result in results() if result.name == "table1").rows
    logit_row = pl.col("method") == "logit"
    lifted = stored.with_columns(
        [pl.when(logit_row).then(pl.lit(value)).otherwise(pl.col(name)).alias(name) for name, value in
         (("accuracy", 0.99), ("over_vanilla", 0.3), ("over_vanilla_se", 0.01))]
    )  # fmt: skip
    assert Result("table1", lifted).finding.holds is True
    sunk = stored.with_columns(pl.when(logit_row).then(0.01).otherwise(pl.col("accuracy")).alias("accuracy"))
    assert Result("table1", sunk).finding.holds is False
