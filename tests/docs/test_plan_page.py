"""The page about plans names every field that a plan can have."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import steelyard as sy
from steelyard.voting.methods.base.plan import LARGEST, VERSION, Plan, write_plan
from steelyard.voting.methods.base.provenance import Provenance
from tests.docs.test_docs import ROOT

PAGE = (ROOT / "docs" / "plan.md").read_text()


def listed(part: str) -> set[str]:
    """The names in the first column of a table."""
    cells = re.findall(r"^\| (`[^|]*) \|", part, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def test_the_first_table_has_every_field_of_a_plan(tmp_path: Path) -> None:
    known = Provenance(8, "score", None, None, 1, 8, None, None)
    rest = {name: {"a": 1} for name in ("stopping", "mix", "cascade", "asking", "samples")}
    assert {field.name for field in fields(Plan)} == {"method", "settings", "learned", "fitted_on", "made_by", *rest}
    write_plan(Plan("majority", {}, {}, known, made_by="package:Class", **rest), tmp_path / "plan.json")
    assert listed(PAGE.partition("## What it was fitted on")[0]) == set(
        json.loads((tmp_path / "plan.json").read_text())
    )


def test_the_second_table_has_every_field_of_what_it_was_fitted_on() -> None:
    part = PAGE.partition("## What it was fitted on")[2].replace("| field of `fitted_on` |", "")
    assert listed(part) == {field.name for field in fields(Provenance)}


def test_version_and_limit_are_those_of_the_code() -> None:
    assert f'`"steelyard-plan"` and {VERSION}.' in PAGE
    assert f"larger than {LARGEST >> 20} MB" in PAGE


def test_a_plan_read_back_votes_the_same(tmp_path: Path) -> None:
    calibration, test = sy.read_labelled(sy.simulate(120, 8)).split(0.5, seed=0)
    vote = sy.CalibratedVote().fit(calibration)
    vote.save(tmp_path / "plan.json")
    assert (sy.load(tmp_path / "plan.json").predict(test).confidence == vote.predict(test).confidence).all()
