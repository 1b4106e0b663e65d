"""The page: its figures are the library's, its texts are harmless, and it works in a browser."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.evaluation.reports.ballot_data import encoded
from steelyard.evaluation.reports.chart_data import histogram, offsets_of, weights_of
from steelyard.evaluation.reports.page import LARGEST, report
from steelyard.evaluation.reports.sentences import answer, headline, points
from steelyard.evaluation.reports.summary import open_case, summarise
from steelyard.voting.confidence.calibration_error import calibration_curve
from steelyard.voting.method_colours import colour
from steelyard.voting.methods.base.response_losses import response_losses
from tests.building import labelled
from tests.running import steelyard

HOSTILE = [
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "a\u2028b\u2029c & <!-- ]]> ${x} $style `",
    "\u202eright to left\u202c \u200f",
    "W" * 3000,
    "\x00\x07 control \x1b[31m",
]


def hostile_table() -> pl.DataFrame:
    """Simulated ballots whose every text is an attack on the page."""
    table = sy.simulate(60, 6, seed=5)
    number = pl.col("question").rank("dense").cast(pl.Int64)
    nasty = number.map_elements(lambda i: HOSTILE[i % len(HOSTILE)], return_dtype=pl.String)
    return table.with_columns(
        question=pl.concat_str(nasty, pl.col("question")),
        answer=pl.when(pl.col("answer").is_not_null()).then(pl.concat_str(nasty, pl.col("answer"))),
        prompt=nasty,
        response=pl.concat_str(nasty, pl.col("sample").cast(pl.String)),
        domain=nasty,
        llm=pl.lit(HOSTILE[1]),
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of simulated responses, one of hostile texts, one of two files."""
    folder = tmp_path_factory.mktemp("report")
    table = sy.simulate(150, 8, seed=3)
    words = pl.col("question") + "/" + pl.col("sample").cast(pl.String)
    sy.write(table.with_columns(domain=pl.col("question").str.slice(-1), response=words), folder / "plain.parquet")
    sy.write(hostile_table(), folder / "<img src=x onerror=window.hacked=1>.jsonl")
    nasty = folder / "<img src=x onerror=window.hacked=1>.jsonl"
    pages = {name: folder / f"{name}.html" for name in ("plain", "hostile", "two")}
    report([folder / "plain.parquet"], pages["plain"])
    report([nasty], pages["hostile"], answers="exact")
    report([folder / "plain.parquet", nasty], pages["two"], answers="exact", method="linear")
    return pages | {"file": folder / "plain.parquet"}


def stored(page: Path, name: str) -> Any:
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page.read_text(), re.DOTALL)
    assert found, name
    return json.loads(found[1])


def shown(page: Path) -> str:
    """The words of a page, without tags and scripts."""
    text = re.sub(r"<(script|style)[^>]*>.*?</\1>", " ", page.read_text(), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_the_answer_and_its_figures_are_the_librarys(made: dict[str, Path]) -> None:
    cal, test = labelled(made["file"]).split(0.3, seed=0)
    vote = sy.CalibratedVote().fit(cal)
    mine, majority = vote.predict(test), sy.MajorityVote().predict(test)
    gain = sy.evaluation.paired_difference(mine, majority, test)
    words = shown(made["plain"])
    assert f"answers {100 * sy.accuracy(mine, test):.1f} % of 105 test questions correctly" in words
    assert f"{points(gain)} points (95 % interval {points(gain.low)} to {points(gain.high)})" in words
    curves = sy.evaluation.curves(["majority", "calibrated"], cal, test, n=sy.evaluation.fine_sizes(8), resamples=100)
    rows = stored(made["plain"], "chart-curves-0-0")["datasets"]
    found = {(r["method"], r["n"]): r["accuracy"] for data in rows.values() for r in data if "accuracy" in r}
    for i, n in enumerate(curves.sizes):
        assert found["calibrated", n] == pytest.approx(curves.accuracy[i, 1], abs=1e-5)
    saved = sy.evaluation.compute_to_match(curves, "calibrated", "majority")
    assert saved.samples is not None
    match = f"About {saved.samples:.0f} of its samples match majority vote with {saved.n}"
    assert f"{match} ({100 * (saved.fraction or 0):.1f} %" in words


def test_the_ballots_are_the_librarys(made: dict[str, Path]) -> None:
    cal, test = labelled(made["file"]).split(0.3, seed=0)
    vote = sy.CalibratedVote().fit(cal)
    mine, majority = vote.predict(test), sy.MajorityVote().predict(test)
    probabilities, losses = vote.answer_probabilities(test), response_losses(vote, test)
    assert probabilities is not None
    assert losses is not None
    found = stored(made["plain"], "ballots-0")
    assert found["left_out"] == found["dropped"] == 0
    assert [q["i"] for q in found["questions"]] == list(test.questions)
    texts = dict(pl.read_parquet(made["file"]).select("question", "response").group_by("question").all().iter_rows())
    for i, q in enumerate(found["questions"]):
        rows = slice(test.starts[i], test.starts[i + 1])
        assert (q["a"][q["v"]], q["a"][q["m"]]) == (mine.answer[i], majority.answer[i])
        assert q["w"] == pytest.approx(100 * losses[rows], abs=6e-3)
        assert [t[1] for t in q["t"]] == pytest.approx(1000 * probabilities.of(i), abs=1)
        assert q["t"][q["v"]][1] == pytest.approx(1000 * mine.confidence[i], abs=1)
        assert sum(t[0] for t in q["t"]) == mine.cast[i]
        assert bool(q["k"] & 1) == (mine.code[i] != majority.code[i])
        assert bool(q["k"] & 2) == (test.correct[rows].any() and not mine.correct(test)[i])
        assert [found["texts"][x] for x in q["x"]] == list(texts[q["i"]])


def test_charts_carry_units_and_the_fixed_colours(made: dict[str, Path]) -> None:
    names = re.findall(r'id="(chart-[^"]+)"', made["plain"].read_text())
    assert [name.split("-")[1] for name in names] == [
        "curves",
        "weights",
        "weights",
        "reliability",
        "domains",
    ]
    for name in names:
        assert re.search(
            r'"title":"[^"]*(%|score|weight)', json.dumps(stored(made["plain"], name), separators=(",", ":"))
        )
    scale = stored(made["plain"], "chart-curves-0-0")["layer"][0]["encoding"]["color"]["scale"]
    assert set(scale["domain"]) == {"majority", "best-of-n", "vanilla", "calibrated", "pass-at-n"}
    assert dict(zip(scale["domain"], scale["range"], strict=True)) == {n: colour(n) for n in scale["domain"]}


@pytest.mark.parametrize(
    "method",
    ["linear", *(pytest.param(name, marks=pytest.mark.long) for name in ("kde", "vanilla", "best-of-n", "majority"))],
)
def test_every_method_has_a_page(method: str, made: dict[str, Path], tmp_path: Path) -> None:
    report([made["file"]], tmp_path / "r.html", method=method)
    assert ("chart-offsets" in (tmp_path / "r.html").read_text()) == (method == "linear")  # not about another method
    found = stored(tmp_path / "r.html", "ballots-0")
    assert found["kind"] == {"kde": "share", "best-of-n": "share"}.get(method, "weight")
    assert f"The {method} vote has no confidence" in (tmp_path / "r.html").read_text()
    assert "chart-reliability" not in (tmp_path / "r.html").read_text()
    assert all("f" not in q and 0 <= q["h"] <= 1 for q in found["questions"])  # a vote share, no confidence


def test_a_ballot_without_a_confidence_shows_the_vote_share(made: dict[str, Path], visit: Any, tmp_path: Path) -> None:
    report([made["file"]], tmp_path / "r.html", method="linear")
    tab = visit(tmp_path / "r.html")
    found = stored(tmp_path / "r.html", "ballots-0")
    share = found["questions"][found["first"]]["h"]
    assert f", vote share {100 * share:.1f} %" in tab.locator(".verdicts dd small").first.inner_text()


def test_the_weight_and_the_offset_meet_at_b(made: dict[str, Path]) -> None:
    case = open_case("x", labelled(made["file"]), "logit", share=0.3, seed=0)
    weights, offsets = weights_of(case), offsets_of(case.method)
    assert isinstance(case.method, sy.LogitVote)
    assert offsets is not None
    assert weights.crossings == [case.method.b] == [offsets.b]
    assert case.method.weight(weights.crossings[0]) == pytest.approx(0, abs=1e-6)
    assert offsets.best == max(step["accuracy"] for step in offsets.steps)
    assert sum(row["share"] for row in histogram(case.cal)) == pytest.approx(2)


def test_without_a_signal_the_page_says_that_calibration_does_not_help() -> None:
    pool = labelled(sy.simulate(300, 8, seed=1, world=sy.testing.World(gap=0.0, inconsistency=0.0)))
    found = summarise(open_case("noise", pool, "logit", share=0.3, seed=0), share=0.3, seed=0)
    assert re.search("no clear difference|hurts|changes nothing", headline(found))
    assert re.search("saves none|do not count on a saving", " ".join(answer(found)))


def test_ece_is_the_mean_distance_between_confidence_and_accuracy() -> None:
    rng = np.random.default_rng(0)
    confidence = rng.random(5000)
    honest = calibration_curve(confidence, rng.random(5000) < confidence)
    boasting = calibration_curve(confidence, rng.random(5000) < confidence / 2)
    assert honest.ece < 0.03
    assert boasting.ece == pytest.approx(0.25, abs=0.03)
    assert sum(each.questions for each in honest.bins) == 5000
    assert all(each.low <= each.accuracy <= each.high for each in honest.bins)


@pytest.mark.parametrize("text", HOSTILE)
def test_json_in_a_script_element_cannot_end_it(text: str) -> None:
    assert json.loads(encoded([text])) == [text]
    assert not set("<>&\u2028\u2029") & set(encoded([text]))


def test_hostile_texts_and_names_are_escaped(made: dict[str, Path]) -> None:
    page = made["hostile"].read_text()
    assert "<img src=x" not in page
    assert page.count("<script") == page.count("</script>") == 3 + len(re.findall('id="chart-', page))
    assert "&lt;img src=x onerror=window.hacked=1&gt;.jsonl" in page


@pytest.mark.long
def test_a_thousand_questions_with_long_texts_stay_under_five_megabytes(tmp_path: Path) -> None:
    table = sy.simulate(1000, 64, seed=0)
    text = pl.concat_str(pl.lit("so it is <> " * 20), pl.col("question"), pl.col("sample").cast(pl.String))
    sy.write(table.with_columns(response=text, prompt=text.str.slice(0, 90)), tmp_path / "t.parquet")
    size = report([tmp_path / "t.parquet"], tmp_path / "r.html", calibrate=0.05)
    assert size == (tmp_path / "r.html").stat().st_size < LARGEST < 5_000_000
    found = stored(tmp_path / "r.html", "ballots-0")
    assert found["dropped"] > 0
    assert f"{found['dropped']:,} texts did not fit" in shown(tmp_path / "r.html")
    assert found["left_out"] == 0


def test_no_script_comes_from_anywhere_else(made: dict[str, Path]) -> None:
    page = made["plain"].read_text()
    assert not re.search(r"<(script|img|iframe|link)[^>]+(src|href)=", page.partition("</main>")[0])
    assert not re.search(r"<script[^>]+src", page)
    assert "default-src 'none'" in page
    assert "BSD-3-Clause" in page


def test_an_unlabelled_file_is_one_line_with_the_fix(tmp_path: Path) -> None:
    sy.write(sy.simulate(40, 4).drop("correct"), tmp_path / "t.parquet")
    done = steelyard("report", tmp_path / "t.parquet", "-o", tmp_path / "r.html")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "t.parquet: accuracy needs labels: add a column 'correct'" in done.err


def test_mistakes_are_told_before_any_work(made: dict[str, Path], tmp_path: Path) -> None:
    for words, told in (
        ((made["file"], "-o", tmp_path / "no" / "r.html"), "there is no folder"),
        ((made["file"], "-o", tmp_path), "it is a folder"),
        ((made["file"], "-o", tmp_path / "r.html", "--method", "optimal"), "optimal is an oracle"),
        ((made["file"], "-o", tmp_path / "r.html", "--method", "logti"), "did you mean 'logit'"),
        ((tmp_path / "none.parquet", "-o", tmp_path / "r.html"), "no such file"),
        ((), "Missing argument"),
    ):
        done = steelyard("report", *words)
        assert (done.code, done.err.count("\n")) == (2, 1), done.err
        assert told in done.err


# In a browser


@pytest.fixture
def visit(browser: Any) -> Iterator[Any]:
    """Open a page; at the end nothing may have been logged, and nothing asked for but the file."""
    contexts, logged, asked = [], [], []

    def go(page: Path, *, width: int = 1100, scheme: str = "light") -> Any:
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(60_000)
        tab.on("console", lambda message: logged.append(message.text))
        tab.on("pageerror", lambda error: logged.append(str(error)))
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(page.as_uri())
        tab.locator("section:not([hidden]) .chart:not(.drawn)").last.wait_for(state="detached")
        assert tab.locator("section:not([hidden]) .chart:not(:has(svg))").count() == 0
        return tab

    yield go
    for context in contexts:
        context.close()
    assert logged == []
    assert len(asked) == len(contexts)
    assert all(url.startswith("file://") for url in asked)


@pytest.mark.long
def test_filters_search_and_keys_move_through_the_ballots(visit: Any, made: dict[str, Path]) -> None:
    tab = visit(made["plain"])
    questions = stored(made["plain"], "ballots-0")["questions"]
    status, picked = tab.locator("[data-part=status]"), tab.locator("[data-part=view] h3 bdi").first
    for value, bit in (("all", 0), ("missed", 2), ("changed", 1)):
        wanted = [q for q in questions if not bit or q["k"] & bit]
        label = tab.locator(f"label:has(input[value={value}])")
        label.click()
        assert status.inner_text().endswith(f" of {len(wanted)}")
        assert picked.inner_text() in {q["i"] for q in wanted}
        assert str(len(wanted)) in label.locator(".count").inner_text()
    tab.locator("label:has(input[value=all])").click()
    tab.locator("[data-part=select]").select_option(index=0)
    tab.locator("h1").click()
    first = picked.inner_text()
    assert first == questions[0]["i"]
    tab.keyboard.press("ArrowRight")
    assert status.inner_text().startswith("Question 2 of")
    assert picked.inner_text() != first
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.press("ArrowLeft")
    assert picked.inner_text() == first
    tab.locator("[data-part=next]").press("Enter")
    tab.locator("[data-part=search]").fill(questions[70]["i"])
    assert picked.inner_text() == questions[70]["i"]
    tab.locator("[data-part=search]").fill("nothing like it")
    assert status.inner_text() == "No question matches"


def test_a_ballot_shows_verdicts_probabilities_and_texts(visit: Any, made: dict[str, Path]) -> None:
    tab = visit(made["plain"])
    found = stored(made["plain"], "ballots-0")
    q = found["questions"][found["first"]]
    assert tab.locator("[data-part=view] h3 bdi").first.inner_text() == q["i"]
    assert [e.inner_text() for e in tab.locator(".verdicts dd bdi").all()][:2] == [q["a"][q["v"]], q["a"][q["m"]]]
    winner = tab.locator(".answers > li").first
    assert winner.locator("b").first.inner_text() == f"{q['t'][q['v']][1] / 10:.1f} %"
    bars = tab.locator(".answers .num b").all_inner_texts()
    assert sum(float(text.removesuffix(" %")) for text in bars) == pytest.approx(100)
    assert tab.locator(".answers > li.none").inner_text().startswith("none of these")
    winner.locator("summary").focus()
    tab.keyboard.press("Enter")
    winner.locator(".responses").wait_for()
    texts = {e.inner_text() for e in winner.locator(".responses .text").all()}
    assert texts == {found["texts"][x] for x, code in zip(q["x"], q["c"], strict=True) if code == q["v"]}


@pytest.mark.parametrize(
    "page", ["hostile", *(pytest.param(each, marks=pytest.mark.long) for each in ("plain", "two"))]
)
@pytest.mark.parametrize("width", [390, pytest.param(1100, marks=pytest.mark.long)])
def test_nothing_runs_off_the_page(visit: Any, made: dict[str, Path], page: str, width: int) -> None:
    tab = visit(made[page], width=width)
    tab.locator(".answers summary").first.click()
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate("window.hacked") is None
    assert tab.locator("img").count() == 0


@pytest.mark.long
def test_on_a_phone_the_bars_of_a_ballot_are_as_wide_as_the_ballot(visit: Any, made: dict[str, Path]) -> None:
    tab = visit(made["plain"], width=390)
    ballot, bar = (tab.locator(where).first.bounding_box()["width"] for where in (".answers", ".answers .bar"))
    assert bar > 0.9 * ballot


def test_hostile_texts_are_inert_on_every_ballot(visit: Any, made: dict[str, Path]) -> None:
    tab = visit(made["hostile"])
    tab.locator("label:has(input[value=all])").click()
    tab.locator("h1").click()
    for _ in range(12):
        tab.locator(".answers summary").first.click()
        tab.keyboard.press("ArrowRight")
    assert tab.evaluate("window.hacked") is None
    assert tab.locator("[data-part=view] img, [data-part=view] script").count() == 0


@pytest.mark.long
def test_light_and_dark_follow_the_system_and_the_button(visit: Any, made: dict[str, Path]) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    tab = visit(made["plain"], scheme="dark")
    dark = tab.evaluate(paper)
    tab.locator("#theme").click()
    light = tab.evaluate(paper)
    assert (dark, light) == ("rgb(20, 23, 26)", "rgb(253, 253, 251)")
    assert visit(made["plain"], scheme="light").evaluate(paper) == light
    label = tab.locator(".chart svg text").first
    assert label.evaluate("node => getComputedStyle(node).fill") == "rgb(27, 31, 36)"


@pytest.mark.long
def test_two_files_are_two_tabs_under_one_table(visit: Any, made: dict[str, Path]) -> None:
    tab = visit(made["two"])
    assert tab.locator("table").first.locator("tbody tr").count() == 2
    assert [s.is_visible() for s in tab.locator("section.file").all()] == [True, False]
    tab.locator("[role=tab]").first.focus()
    tab.keyboard.press("ArrowRight")
    assert [s.is_visible() for s in tab.locator("section.file").all()] == [False, True]
    tab.wait_for_selector("#file-1 .chart svg")
