"""More than a hundred answers nobody should be able to hang, crash or run code with."""

from __future__ import annotations

CANARY = "steelyard-canary"
_CODE = [
    f"__import__('os').system('touch {CANARY}')", f'__import__("pathlib").Path("{CANARY}").touch()',
    f"open('{CANARY}', 'w')", f"exec(\"open('{CANARY}','w')\")", f"eval('open(chr(47)+\"{CANARY}\")')",
    "().__class__.__bases__[0].__subclasses__()", f"lambda: open('{CANARY}','w')", f"os.system('touch {CANARY}')",
    f"\\input{{{CANARY}}}", f"\\write18{{touch {CANARY}}}", f"${{{CANARY}}}", f"`touch {CANARY}`", f"$(touch {CANARY})",
    "{{7*7}}", "%n%n%n%s", "'; DROP TABLE answers; --", "<script>alert(1)</script>",
]  # fmt: skip
_TOWERS = [
    "10^{10^{10}}", "9**9**9", "9^9^9^9^9", "10**10**10", "2^{2^{2^{2^{2^{2}}}}}", "factorial(10**7)", "(10^7)!", "99999!",
    "((9!)!)!", "3!!!!!!", "\\binom{10^9}{5\\cdot 10^8}", "10^{99999999}", "(x+1)^{100000}", "(a+b+c+d+e)^{64}", "x^{9999999}",
    "1e400", "1e999999999", "1" * 5000, "0." + "1" * 5000, "\\sqrt{" + "9" * 3000 + "}", "\\sqrt[1000000]{2}", "0^{-1}", "1/0",
    "\\frac{1}{0}", "0^0", "\\frac{0}{0}", "\\lim_{x\\to\\infty} x!", "\\sum_{i=1}^{10^{10}} i", "\\int_0^1 \\int_0^1 \\int_0^1 f",
    "2^{0.5^{0.5}}", "(-1)^{1/2}", "i^i", "i^{1000003}", "\\pi^{\\pi^{\\pi}}",
]  # fmt: skip
_DEEP = [
    "{" * 100_000, "}" * 100_000, "(" * 100_000, "[" * 100_000, "\\boxed{" * 20_000, "\\frac{" * 10_000, "\\sqrt{" * 10_000,
    "\\sqrt{" * 900 + "2" + "}" * 900, "(" * 900 + "1" + ")" * 900, "-" * 100_000 + "1", "+" * 1000 + "1", "1+" * 50_000 + "1",
    "1," * 100_000, "{" + "1," * 100_000 + "1}", "\\frac1" * 10_000, "\\text{" * 5000 + "a" + "}" * 5000, "\\left(" * 5000,
    "a^" * 5000 + "a", "a_" * 5000 + "a", "\\pm" * 5000, "\\cup" * 5000, "=" * 100_000, "1=" * 5000 + "1", "\\\\" * 50_000,
    "\\begin{pmatrix}" * 3000, "\\begin{matrix}" + "1&" * 2000 + "1\\end{matrix}", "$" * 100_000, "\\" * 100_000, "%" * 50_000,
]  # fmt: skip
_LONG = [
    "7" * 1_000_000,
    "a" * 1_000_000,
    " " * 1_000_000,
    "\\boxed{" + "x" * 1_000_000 + "}",
    "ab " * 300_000,
    "1 " * 500_000,
]
_TEXT = [
    "\ud800", "a\udc00b", "\x00", "1\x002", "\u202e12", "1\u200b2", "\ufeff12", "１２", "٣", "१२", "𝟙𝟚", "①", "Ⅻ", "½½", "1½½",
    "ＡＢＣ", "аbс", "0x1F", "0b101", "1_000", "+5", "--5", "5-", "- -5", "1..2", "1.2.3", ".", "-", "=", ",", ";", "()", "{}",
    "[]", "[)", "(]", "\\", "\\\\", "$$", "\\(\\)", "\\text{}", "\\frac{}{}", "\\sqrt{}", "^", "_", "x_", "x^", "!", "5!", "5%%",
    "%", "NaN", "inf", "-inf", "null", "None", "true", "\\def\\a{\\a}\\a", "\\newcommand{\\x}{\\x\\x}\\x", "\\loop\\repeat",
    "a\u0301" * 5000, "👩‍👩‍👧‍👦" * 500, "\u2028", "\x1b[31m5\x1b[0m", "a" * 39 + "!", "(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
    "answer: " * 3000, '"answer"' * 3000, '"answer": "' + "\\" * 9000, "#### " * 5000, "the answer is " * 3000, "**" * 20_000,
]  # fmt: skip
HOSTILE: list[str] = [*_CODE, *_TOWERS, *_DEEP, *_LONG, *_TEXT]
