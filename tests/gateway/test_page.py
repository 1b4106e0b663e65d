"""The page in a real browser: it asks, shows and tells what is wrong, runs no text, and needs no mouse."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from steelyard.sampling.llm.prices import read_prices
from steelyard.voting.confidence.calibration_error import Bin
from tests.fault_upstream.answers import OPINIONS
from tests.gateway.gateways import KEY, VOTE, Gateway, gateway
from tests.gateway.hostile_texts import TEXTS
from tests.upstreams import CANARY, FaultUpstream

PROMPT = "\n".join(f"\\boxed{{{answer}}}" for answer in "7778797")  # what the model says, line by line
REFUSED = "Failed to load resource: the server responded with a status of 40"  # what the browser says of any refusal
WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
"""


@pytest.fixture(scope="module")
def served(upstream: FaultUpstream) -> Iterator[Gateway]:
    with gateway(upstream.url, model="fault:lines?boxed") as running:
        yield running


@pytest.fixture(scope="module")
def hostile(upstream: FaultUpstream) -> Iterator[Gateway]:
    """A server whose model says the lines of the prompt, one by one."""
    with gateway(upstream.url, model="fault:lines?hacked", answers="exact", keep_texts=True) as running:
        yield running


@pytest.fixture
def visit(browser: Any) -> Iterator[Any]:
    """Open the page; at the end no policy was violated, nothing logged, and nobody else asked for anything."""
    tabs: list[Any] = []
    logged: list[str] = []
    asked: list[str] = []

    def go(running: Gateway, *, width: int = 1100, scheme: str = "light", key: str = KEY) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        context.add_init_script(WATCH)
        tab = context.new_page()
        tab.set_default_timeout(60_000)
        tab.on("console", lambda message: logged.append(message.text))
        tab.on("pageerror", lambda error: logged.append(str(error)))
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("dialog", lambda dialog: logged.append(dialog.message))
        tab.goto(running.url)
        tabs.append((tab, running))
        if key:
            tab.fill("#key", key)
            tab.press("#key", "Enter")
            tab.locator("#desk").wait_for()
        return tab

    yield go
    for tab, running in tabs:
        assert tab.evaluate("[window.violations, window.hacked]") == [[], None]
        assert tab.url == f"{running.url}/"
        tab.context.close()
    assert [line for line in logged if not line.startswith(REFUSED)] == []
    assert all(url.startswith((*(running.url for _, running in tabs), "data:")) for url in asked)


def ask(tab: Any, prompt: str, n: int = 16) -> None:
    tab.fill("#question", prompt)
    if tab.locator(f"#samples option[value='{n}']").count():
        tab.select_option("#samples", str(n))
    tab.click("#ask")


def decided(tab: Any) -> None:
    tab.locator("#after:not([hidden])").wait_for()
    tab.locator("#stop").wait_for(state="hidden")


def test_a_question_is_asked_and_its_answers_stand_there_with_bars(visit: Any, served: Gateway) -> None:
    tab = visit(served)
    assert tab.locator("#empty").is_visible()
    ask(tab, PROMPT)
    decided(tab)
    entry = served.send("GET", "/page/state").json["requests"][0]
    assert [one["votes"] for one in entry["answers"]] == [12, 2, 2]
    bars = tab.locator("#answers > li .bar").all()
    assert len(bars) == len(entry["answers"])
    shares = [one["weight"] / sum(each["weight"] for each in entry["answers"]) for one in entry["answers"]]
    assert [bar.get_attribute("aria-label") for bar in bars] == [f"of the weight {100 * s:.1f} %" for s in shares]
    assert f"Decided after 16 samples: {tab.locator('#answers bdi').first.inner_text()}." in tab.inner_text("#status")
    assert (entry["confidence"], entry["share"]) == (None, 12 / 16)
    assert "75.0 %" in tab.inner_text("#figures")
    assert tab.locator("#figures dt").first.text_content() == "Vote share (not a probability)"
    assert tab.locator("#result > :not(.card, #after)", has_text="75.0 %").count() == 1, "shown once beside the answers"
    assert "confidence" not in tab.inner_text("#result").lower()
    assert tab.locator("#requests").is_hidden()
    tab.click("#last > summary")
    assert "75.0 %\nvote share\n16 samples" in tab.locator("#requests summary .num").first.inner_text()
    assert "16 of 16" in tab.inner_text("#figures")
    assert tab.locator("#side h3").all_inner_texts() == ["N = 1", "N = 4", "N = 16"]
    assert tab.locator("#strip .leads").count() == entry["answers"][0]["votes"]
    assert "\\boxed{" in tab.inner_text("#reply")
    first = tab.locator("#requests > li").first
    assert PROMPT.split("\n")[0] in first.inner_text()
    first.locator("summary").first.click()
    first.locator("summary", has_text="Ballot").click()
    assert first.locator("tbody tr").count() == 16


def test_the_key_is_asked_for_once_and_stands_nowhere(visit: Any, served: Gateway) -> None:
    tab = visit(served, key="")
    assert tab.locator("#desk").is_hidden()
    tab.fill("#key", "wrong-key-of-mine")
    tab.press("#key", "Enter")
    tab.locator("#key-error:not([hidden])").wait_for()
    assert tab.inner_text("#key-error") == "The API key is not valid."
    tab.fill("#key", KEY)
    tab.press("#key", "Enter")
    tab.locator("#desk").wait_for()
    tab.reload()
    tab.locator("#desk").wait_for()
    ask(tab, 'it\'s "quoted" \u202e 🧮?', 1)
    decided(tab)
    tab.click("#code > summary")
    curl, python = tab.locator("#code pre").all_inner_texts()
    assert "Bearer $STEELYARD_KEY" in curl
    assert 'os.environ["STEELYARD_KEY"]' in python
    sent = json.loads(re.findall(r"-d '(.*)'$", curl)[0])
    assert sent["messages"][0]["content"] == 'it\'s "quoted" \u202e 🧮?'
    assert curl.isascii()
    assert 'it\'s \\"quoted\\" \\u202e \\U0001f9ee?' in python
    compile(python, "copied", "exec")
    for secret in (KEY, CANARY):
        assert secret not in tab.content()
        assert secret not in json.dumps(tab.evaluate("({...localStorage})"))
    tab.click("#forget")
    assert tab.locator("#key-form").is_visible()
    assert tab.evaluate("sessionStorage.length") == 0


def test_the_page_draws_as_many_samples_as_the_api_and_shows_the_currency(visit: Any, upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:lines?boxed", n=6, price=read_prices(["1,2,EUR"])) as running:
        tab = visit(running)
        assert tab.input_value("#samples") == "6"
        tab.fill("#question", PROMPT)
        tab.click("#ask")
        decided(tab)
        assert running.chat(PROMPT).json["steelyard"]["samples"]["wanted"] == 6
        assert re.search(r"cost\n0\.\d+ EUR", tab.inner_text("#figures"))


def test_a_request_without_a_vote_says_so_on_the_page(visit: Any, served: Gateway) -> None:
    tab = visit(served)
    ask(tab, PROMPT, 1)
    decided(tab)
    assert tab.inner_text("#notes") == "There is only one sample, so there was no vote."


@pytest.mark.long
def test_without_a_key_the_page_opens_at_once(
    visit: Any, upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.gateway.gateways.KEY", "")
    with gateway(upstream.url) as running:
        tab = visit(running, key="")
        tab.locator("#desk").wait_for()
        assert tab.locator("#key-form").is_hidden()
        assert tab.inner_text("#model") == VOTE
        ask(tab, PROMPT, 4)
        decided(tab)
        tab.click("#code > summary")
        assert "Authorization" not in tab.inner_text("#code")


@pytest.mark.long
def test_an_error_is_one_plain_sentence(visit: Any, upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:400?broken") as running:
        tab = visit(running)
        ask(tab, "broken?", 2)
        tab.locator("#problem:not([hidden])").wait_for()
        told = tab.inner_text("#problem")
        assert re.fullmatch(r"The upstream gave no response: HTTP 400: [^\n{}]+\.", told)
        assert tab.locator("#result").is_hidden()
        tab.evaluate("void (window.fetch = () => Promise.reject(new TypeError('x')))")
        ask(tab, "and now?", 2)
        tab.locator("#problem", has_text="cannot be reached").wait_for()


def run_texts(tab: Any, texts: list[str]) -> None:
    """Let the model say these texts, and open everything there is."""
    ask(tab, "\n".join(texts), 64)
    decided(tab)
    tab.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    tab.locator("#answers .responses").first.wait_for()
    assert tab.locator(":is(#result, #requests) :is(img, script, style, iframe, a, object, embed, form)").count() == 0
    assert tab.locator(":is(#result, #requests) svg:not(.bar)").count() == 0


@pytest.mark.parametrize("width", [390, pytest.param(1100, marks=pytest.mark.long)])
def test_texts_of_models_are_shown_and_never_run_and_nothing_runs_off_the_page(
    visit: Any, hostile: Gateway, width: int
) -> None:
    texts = TEXTS[-44:]
    tab = visit(hostile, width=width)
    run_texts(tab, texts)
    shown = " ".join(tab.locator("#answers .responses .text").all_inner_texts())
    assert "<script>window.hacked=1</script>" in shown
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.long
@pytest.mark.parametrize("start", range(0, len(TEXTS), 50))
def test_none_of_two_hundred_texts_runs(visit: Any, hostile: Gateway, start: int) -> None:
    run_texts(visit(hostile, width=390, scheme="dark"), TEXTS[start : start + 50])


def focused(tab: Any) -> str:
    return str(tab.evaluate("document.activeElement.id || document.activeElement.tagName"))


@pytest.mark.long
def test_the_keyboard_is_enough(visit: Any, served: Gateway) -> None:
    tab = visit(served, key="")
    assert focused(tab) == "key"
    tab.keyboard.type(KEY)
    tab.keyboard.press("Enter")
    tab.locator("#desk").wait_for()
    assert focused(tab) == "question"
    tab.keyboard.insert_text(PROMPT)
    seen = []
    for _ in range(2):
        tab.keyboard.press("Tab")
        seen.append(focused(tab))
    assert seen == ["samples", "ask"]
    tab.keyboard.press("Enter")
    decided(tab)
    assert focused(tab) == "ask"
    tab.keyboard.press("Tab")
    assert focused(tab) == "SUMMARY"
    tab.keyboard.press("Enter")
    tab.locator("#answers details[open] .responses .text").first.wait_for()
    stops = 0
    while focused(tab) != "BODY":  # the end of the page: whoever goes on is back in the browser
        tab.keyboard.press("Tab")
        stops += 1
        assert stops < 100, "the focus is caught"
    assert stops > 5


@pytest.mark.long
def test_everything_has_a_name_for_a_screen_reader_and_news_are_told(visit: Any, served: Gateway) -> None:
    tab = visit(served)
    ask(tab, PROMPT, 4)
    decided(tab)
    unnamed = tab.evaluate(
        """[...document.querySelectorAll("input, select, textarea, button, [role=meter], svg[role=img], [role=region]")]
        .filter((each) => !(each.labels && each.labels.length) && !each.textContent.trim()
          && !each.ariaLabel && !each.getAttribute("aria-labelledby")).map((each) => each.outerHTML)"""
    )
    assert unnamed == []
    assert tab.get_attribute("#status", "aria-live") == "polite"
    assert tab.get_attribute("#problem", "role") == "alert"
    assert tab.get_attribute("html", "lang") == "en"
    levels = [int(e.evaluate("(e) => e.tagName[1]")) for e in tab.locator("h1, h2, h3").all() if e.is_visible()]
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


@pytest.mark.long
def test_stop_cancels_what_is_under_way(visit: Any, upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:silent?forever") as running:
        tab = visit(running)
        ask(tab, "forever", 2)
        tab.locator("#stop").click()
        tab.locator("#status", has_text="Stopped after 0 samples").wait_for()
        assert tab.locator("#stop").is_hidden()


@pytest.mark.long
def test_samples_are_shown_while_others_are_under_way(visit: Any, upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:silent!?watched", method="majority") as running:
        tab = visit(running)
        ask(tab, "watched", 4)
        tab.locator("#status", has_text="3 of 4 samples came").wait_for()
        assert tab.locator("#answers .bar").count() > 0
        assert tab.locator("#after").is_hidden()
        assert tab.locator("#strip .leads").count() == 3
        assert tab.locator("#ask").is_disabled()
        tab.locator("#stop").click()
        tab.locator("#status", has_text="Stopped after 3 samples").wait_for()
        assert tab.locator("#ask").is_enabled()


@pytest.mark.long
def test_a_verdict_can_be_judged_where_the_server_takes_that(visit: Any, served: Gateway) -> None:
    tab = visit(served)
    said: list[Any] = []

    def state(route: Any) -> None:
        told = route.fetch()
        route.fulfill(response=told, json=told.json() | {"feedback": True})

    def feedback(route: Any) -> None:
        if route.request.method == "POST":
            said.append(route.request.post_data_json)
        bins = [vars(Bin(begin=0.7, end=0.9, questions=2, confidence=0.8, accuracy=0.5, low=0.1, high=0.9))]
        about = {"labelled": 2 * len(said), "correct": 1, "with_confidence": 2 * len(said), "confidence": 0.8}
        route.fulfill(json=about | {"bins": bins if said else []})

    tab.route("**/page/state", state)
    tab.route("**/v1/feedback", feedback)
    tab.reload()
    tab.locator("#desk").wait_for()
    ask(tab, PROMPT, 1)
    decided(tab)
    tab.locator("#feedback button", has_text="Wrong").click()
    tab.locator("#feedback", has_text="Noted").wait_for()
    assert said == [{"id": served.send("GET", "/page/state").json["requests"][0]["id"], "correct": False}]
    assert tab.get_attribute("#feedback button >> nth=1", "aria-pressed") == "true"
    told = "Of 2 verdicts that people judged, 50.0 % were correct; the mean confidence is 80.0 %."
    tab.locator("#held-text", has_text=told).wait_for()
    assert tab.locator("#held-rows tr").all_inner_texts() == ["80.0 %\t50.0 % (10.0 % to 90.0 %)\t2"]


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_in_both_schemes(visit: Any, served: Gateway, scheme: str) -> None:
    """Contrast of at least 4.5 for ink, soft ink and errors, on paper, cards and tints."""
    tab = visit(served, scheme=scheme)
    pairs = tab.evaluate(
        """() => {
          const probe = document.body.appendChild(document.createElement("i"));
          const light = (name) => {
            probe.style.color = `var(${name})`;
            const parts = getComputedStyle(probe).color.match(/\\d+/g).map((part) => part / 255)
              .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2] + 0.05;
          };
          const inks = ["--ink", "--soft", "--bad", "--link"];
          return inks.flatMap((ink) => ["--paper", "--card", "--tint"].map((ground) => {
            const [a, b] = [light(ink), light(ground)];
            return [ink, ground, Math.max(a, b) / Math.min(a, b)];
          }));
        }"""
    )
    assert [pair for pair in pairs if pair[2] < 4.5] == []


def test_similar_responses_share_a_line(visit: Any, upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:lines?Hopper") as running:
        tab = visit(running)
        ask(tab, "\n".join(OPINIONS * 2), 8)
        decided(tab)
        groups = tab.locator("#answers > li > details")
        assert [group.locator(".num").last.inner_text().split() for group in groups.all()] == [
            ["6", "samples"],
            ["2", "samples"],
        ]
        assert "Similar responses vote for each other." in tab.inner_text("#answers")
        assert tab.inner_text("#reply") in OPINIONS[1:]
        tab.locator("#answers summary").first.click()
        tab.locator("#answers .responses").wait_for()
        assert tab.locator("#answers .responses > li").count() == 6
