"""The panels that rarer options have in the help of a verb with many options."""

from __future__ import annotations

from typing import Any

MANY = 12  # options; a verb with fewer shows them in one panel
PANELS = {
    "Input": "answers labels layout rename",
    "Requests": "concurrency fan-out key-env logprobs max-failures retries sample-timeout try-timeout",
    "Verifier": "frugal verifier-key-env verifier-local verifier-model verifier-upstream",
    "Workers": "engine gpus-per-worker parts workers",
    "Cost": "confirm-above dry-run price-response price-score probe token-price",
    "Server": "access-log allow-field allow-host cap feedback keep-texts key-file unsafe-no-key",
    "Advanced": "as confidence-level context fork set shuffle-scores split top-p unlabelled",
}
PANEL_OF = {option: panel for panel, options in PANELS.items() for option in options.split()}


def set_panels(command: Any) -> None:
    """Put the options of a command into their panels, in the order above, if it has many."""
    if len(command.params) <= MANY:
        return
    order = [None, *PANELS]
    for parameter in command.params:
        parameter.rich_help_panel = PANEL_OF.get(max(parameter.opts, key=len).lstrip("-"))
    command.params.sort(key=lambda parameter: order.index(parameter.rich_help_panel))
