"""The first page shows what its commands print."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.docs.test_docs import ROOT
from tests.running import steelyard

PAGE = (ROOT / "docs" / "start.md").read_text()
ROW = re.compile(r"^(majority|vanilla|calibrated) +(.+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def responses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("start") / "responses.csv"
    assert steelyard("simulate", "--questions", 200, "-n", 8, "-o", path).code == 0
    return path


def test_the_table_is_what_evaluate_prints(responses: Path) -> None:
    words = ("evaluate", responses, "--method", "majority,vanilla,calibrated", "--json")
    result = json.loads(steelyard(*words).out)
    assert f"{result['test_questions']} test questions, calibrated on {result['calibration_questions']} others" in PAGE
    shown = dict(ROW.findall(PAGE))
    for method in ("majority", "vanilla", "calibrated"):
        rows = {row["n"]: row for row in result["rows"] if row["method"] == method}
        figures = [float(figure) for figure in re.findall(r"[-+]?[\d.]+", shown[method])]
        expected = [100 * rows[n]["accuracy"] for n in (1, 2, 4, 8)] + [100 * rows[8]["se"]]
        if method != "majority":
            expected += [100 * rows[8]["gain"], 100 * rows[8]["gain_se"]]
        assert figures == pytest.approx(expected, abs=0.8)  # one verdict of 140


def test_the_sentence_is_what_fit_prints(responses: Path) -> None:
    out = steelyard("fit", responses, "-o", responses.with_name("plan.json")).out
    sentence = re.compile(r"On questions it was not fitted on, it gains (\S+) ± (\S+) points against majority")
    shown, printed = (sentence.search(" ".join(text.split())) for text in (PAGE, out))
    assert shown
    assert printed
    assert [float(x) for x in shown.groups()] == pytest.approx([float(x) for x in printed.groups()], abs=0.6)
