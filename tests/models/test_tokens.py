"""Protocols with the published vocabularies: golden ids, and the layouts of the cards."""

from __future__ import annotations

import json
from copy import copy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.foundation.errors import VerifierError
from steelyard.sampling.verifiers import all_protocols, find_verifier
from steelyard.sampling.verifiers.context_window import fit
from steelyard.sampling.verifiers.protocol import TokenProtocol
from steelyard.sampling.verifiers.tokens import Tokens
from tests.models.items import drawn
from tests.models.vocabularies import OF, tokenizer
from tests.models.vocabularies import tokens as published
from tests.sampling.verifiers.test_protocols import QUESTION, STEPS, mixed

GOLDEN = Path(__file__).parent / "golden"
NAMES = ("qwen-prm", "skywork-1.5b", "rlhflow-mistral", "math-shepherd", "versaprm")
LLAMA_31 = (
    "{{- bos_token }}{%- set loop_messages = messages %}{{- '<|start_header_id|>system<|end_header_id|>\n\n' }}"
    "{{- 'Cutting Knowledge Date: December 2023\n' }}{{- 'Today Date: 26 Jul 2024\n\n' }}{{- '<|eot_id|>' }}"
    "{%- for message in loop_messages %}"
    "{{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' }}"
    "{%- endfor %}"
)


@pytest.fixture(scope="module", params=NAMES)
def asked(request: pytest.FixtureRequest) -> tuple[str, TokenProtocol, Tokens]:
    protocol, _ = find_verifier(request.param)
    assert isinstance(protocol, TokenProtocol)
    return request.param, protocol, published(OF[request.param])


Asked = tuple[str, TokenProtocol, Tokens]


def test_every_protocol_with_ids_has_its_vocabulary() -> None:
    ours = {protocol.verifiers[0].name for protocol in all_protocols() if isinstance(protocol, TokenProtocol)}
    assert ours == set(NAMES)


def test_ids_and_positions_are_the_golden_ones(asked: Asked) -> None:
    name, protocol, tokens = asked
    tokens.check(protocol.needs)
    made = protocol.render(QUESTION, STEPS, tokens)
    golden = json.loads((GOLDEN / f"{name}.json").read_text())
    assert {"ids": made.ids, "positions": made.positions} == golden


def test_the_ids_are_those_of_the_whole_text(asked: Asked) -> None:
    """The cards encode one text with its special tokens; we encode pieces. Both must agree on ordinary text."""
    name, protocol, tokens = asked
    if name == "skywork-1.5b":
        pytest.skip("its card encodes piece by piece")
    whole = tokenizer(OF[name])
    for item in drawn(40, seed=3):
        steps = [step.replace("ки", "ok") for step in item.steps]
        question = item.question.replace("ки", "ok")
        text, starts = whole_text(name, question, steps)
        ids = whole.encode(text, add_special_tokens=False).ids
        assert protocol.render(question, steps, tokens).ids == [*starts, *ids]


def whole_text(name: str, question: str, steps: list[str]) -> tuple[str, list[int]]:
    """The text of a prompt, and the ids that stand before it."""
    if name == "qwen-prm":
        system = "Please reason step by step, and put your final answer within \\boxed{}."
        turns = [("system", system), ("user", question), ("assistant", "<extra_0>".join(steps) + "<extra_0>")]
        return "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in turns), []
    if name == "rlhflow-mistral":
        first, *others = steps
        turns = [turn for step in (f"{question} {first}", *others) for turn in (("user", step), ("assistant", "+"))]
        head = "<|start_header_id|>{}<|end_header_id|>\n\n{}<|eot_id|>"
        return "<|begin_of_text|>" + "".join(head.format(role, text.strip()) for role, text in turns), []
    if name == "math-shepherd":
        return f"{question} " + "\n".join(f"Step {i}: {step} ки" for i, step in enumerate(steps, 1)), [1]
    if name == "versaprm":
        return f"<|begin_of_text|>{question} \n\n" + "".join(f"{step} \n\n\n\n" for step in steps), []
    raise AssertionError(name)


def test_skywork_encodes_every_piece_by_itself() -> None:
    tokens = published("qwen")
    protocol, _ = find_verifier("skywork-7b")
    assert isinstance(protocol, TokenProtocol)
    plain = tokenizer("qwen")
    expected = [151644, *plain.encode("Why.\n").ids]
    for piece in ("One.", "", "Two"):
        expected += plain.encode(piece).ids if piece else []
        expected += [198]
    made = protocol.render("Why.", ["One.", "", "Two"], tokens)
    assert made.ids == expected
    assert [made.ids[i] for i in made.positions] == [198] * 3
    assert plain.encode("Why.\nOne.\n\nTwo\n").ids != expected[1:], "the whole text joins at borders"


def test_a_template_of_the_model_itself_is_used_with_its_own_system_turn() -> None:
    protocol, _ = find_verifier("rlhflow-deepseek")
    assert isinstance(protocol, TokenProtocol)
    tokens = llama_with({"chat_template": LLAMA_31, "bos_token": {"content": "<|begin_of_text|>"}})
    made = protocol.render("Q", ["a", "b"], tokens)
    text = (
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\n"
        "Today Date: 26 Jul 2024\n\n<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nQ a<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n+<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n"
        "b<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n+<|eot_id|>"
    )
    assert made.ids == tokenizer("llama").encode(text, add_special_tokens=False).ids
    assert [made.ids[i + 1] for i in made.positions] == [10, 10]


def llama_with(settings: dict[str, object]) -> Tokens:
    """Llama's tokenizer with other settings."""
    tokens = copy(published("llama"))
    tokens.settings, tokens.learned = settings, {}
    return tokens


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ messages | length }}", "does not show the turns"),
        ("{% for m in messages %}<|eot_id|>{{ loop.index }}{{ m.content }}{% endfor %}", "by their number"),
        ("{% for m in messages %}{{ m.content }} {% endfor %}", "no special token"),
        ("{{ messages.__class__.__mro__ }}{% nonsense %}", "cannot be used"),
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "cannot be used"),
    ],
)
def test_a_template_that_cannot_be_cut_into_turns_is_refused(template: str, said: str) -> None:
    protocol, _ = find_verifier("rlhflow-deepseek")
    assert isinstance(protocol, TokenProtocol)
    tokens = llama_with({"chat_template": template})
    with pytest.raises(VerifierError, match=said):
        protocol.render("Q", ["a"], tokens)


@given(data=st.data(), question=mixed, steps=st.lists(mixed, min_size=1, max_size=4))
def test_hostile_text_forges_nothing(asked: Asked, data: st.DataObject, question: str, steps: list[str]) -> None:
    _, protocol, tokens = asked
    if tokens.added:
        extra = data.draw(st.sampled_from(sorted(tokens.added)))
        steps, question = [*steps, f"{extra} x{extra}"], f"{extra}{question}"
    made = protocol.render(question, protocol.prepare(steps), tokens)
    calm = protocol.render("q", protocol.prepare(["s"] * len(steps)), tokens)
    special = set(tokens.added.values())
    assert len(made.positions) == len(steps)
    assert [number for number in made.ids if number in special] == [number for number in calm.ids if number in special]
    tags = {made.ids[i] for i in made.positions}
    if tags <= special | {12902, 23535}:
        assert [i for i, number in enumerate(made.ids) if number in tags] == made.positions


def test_ten_thousand_tokens_keep_their_tail(asked: Asked) -> None:
    _, protocol, tokens = asked
    steps = [f"Step {i}: we add {i} and {i + 1} to see what comes out." for i in range(700)]
    assert len(protocol.render(QUESTION, steps, tokens).ids) > 10_000
    fitted = fit(protocol, QUESTION, steps, tokens, 4096)
    assert fitted.truncated
    assert 3900 < len(fitted.rendered.ids) <= 4096
    kept = len(fitted.rendered.positions)
    assert fitted.rendered == protocol.render(QUESTION, steps[-kept:], tokens)


def test_ids_other_than_the_published_ones_are_refused() -> None:
    protocol, _ = find_verifier("qwen-prm")
    assert isinstance(protocol, TokenProtocol)
    with pytest.raises(VerifierError, match="this is a different tokenizer"):
        published("mistral").check(protocol.needs)
    with pytest.raises(VerifierError, match="qwen: token '<tool_call>' is 151657, expected 5"):
        published("qwen").check({"<tool_call>": 5})


def test_a_folder_without_a_tokenizer_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(VerifierError, match="AutoTokenizer"):
        Tokens.load(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(VerifierError, match="cannot read"):
        Tokens.load(tmp_path)
