"""What the verifier need not have read, as facts of the page: by the journal of a run, and by a replay on the test."""

from __future__ import annotations

from pathlib import Path

from steelyard.evaluation.reports.summary import Case
from steelyard.foundation.errors import RunError, SettingError
from steelyard.runs.parted_bill import run_bills
from steelyard.tables.score_spelling import parse_score
from steelyard.voting.on_demand import asking_rule
from steelyard.voting.on_demand.base_rule import replay
from steelyard.voting.on_demand.readings import texts_asked

RULE = "exact"


def verifier_facts(file: str | Path, case: Case) -> dict[str, str]:
    """The share of the responses that had to be read for the same verdicts; and what a run was billed for."""
    facts = {}
    test = case.raw[1]
    if test.scores is not None and test.parts is None and case.method.reads_scores():
        try:
            asked = replay(asking_rule(RULE), case.method, test.unlabelled())
        except SettingError:  # the method gives no bounds
            pass
        else:
            share = float(texts_asked(asked).sum() / test.n_responses)
            facts["read by score --frugal"] = f"{100 * share:.1f} % of the responses, same verdicts"
    score = parse_score(test.origin.score or "")
    return facts | (_billed(Path(file), score.column) if score else {})


def _billed(run: Path, column: str) -> dict[str, str]:
    """What a run says that its verifier has read."""
    try:
        found = run_bills(run).get(column)
    except RunError:
        return {}
    if found is None:
        return {}
    bill = found.bill
    total = bill["read"] + bill["copied"] + bill["not_asked"]
    tokens = "" if not bill["tokens_read"] else f" ({bill['tokens_read']:,} tokens)"
    seconds = f" in {bill['seconds']:.3g} s" if bill["seconds"] else ""
    return {"the verifier read": f"{bill['read']:,} of {total:,} responses{tokens}{seconds}"}
