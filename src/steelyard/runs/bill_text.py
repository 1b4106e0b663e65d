"""The bill of on-demand scoring, as sentences."""

from __future__ import annotations

from typing import Any


def bill_lines(name: str, bill: dict[str, Any]) -> list[str]:
    """Return the bill of one verifier, as sentences."""
    total = bill["read"] + bill["copied"] + bill["not_asked"]
    share = bill["read"] / max(1, total)
    same = f", {bill['copied']:,} have the words of one of these" if bill["copied"] else ""
    lines = [
        f"{name} was asked by the rule {bill['rule']} and the plan {bill['plan']}: {bill['read']:,} of {total:,} "
        f"responses ({share:.0%}) were read{same}, {bill['not_asked']:,} were not asked."
    ]
    if bill["tokens_read"] is not None or bill["tokens_not_read"] is not None:
        read, saved = bill["tokens_read"] or 0, bill["tokens_not_read"] or 0
        lines.append(f"  tokens of responses: {read:,} read, {saved:,} saved")
    if bill["seconds_saved"] is not None:
        lines.append(f"  seconds of the verifier: {bill['seconds']:.3g} spent, about {bill['seconds_saved']:.3g} saved")
    if bill["cost"] is not None:
        lines.append(f"  money: {bill['cost']:.4g} spent, {bill['saved']:.4g} saved")
    if not bill["finished"]:
        lines.append("  It is not finished: the same command goes on, and asks nothing twice.")
    return lines
