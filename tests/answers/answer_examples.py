"""Examples of reading and grouping answers: the tests check them, the docs show them."""

from __future__ import annotations

# what is shown, the response, the kind, the answer, the rule
EXTRACTED: list[tuple[str, str, str, str | None, str]] = [
    ("a box, braces inside", r"Thus \boxed{\frac{1}{2}}.", "math", r"\frac{1}{2}", "boxed"),
    ("two boxes: the last", r"\boxed{3} no, \boxed{4}", "math", "4", "boxed"),
    ("a box cut off: the one before", r"\boxed{3}, then \boxed{\frac{1}{", "math", "3", "boxed"),
    ("a JSON reply", '{"reasoning": "5 + 7", "answer": "12"}', "math", "12", "json"),
    ("LaTeX not escaped in JSON", r'{"answer": "\frac{1}{6}"}', "math", r"\frac{1}{6}", "json"),
    ("a number in JSON", '{"answer": 12.5}', "math", "12.5", "json"),
    ("a final answer", "The final answer is $12$. I hope", "math", "12", "final"),
    ("GSM8K", "She has 5 + 7 = 12.\n#### 12", "math", "12", "hashes"),
    ("a label, in bold", "Some steps.\n**Answer:** 12 apples", "math", "12 apples", "label"),
    ("a sentence", "So the answer is 12, because 5 + 7 is", "math", "12", "said"),
    ("an answer in bold", "The answer is **12**.", "math", "12", "said"),
    ("with units", "The answer is 12 cm", "math", "12 cm", "said"),
    ("the last number", "5 plus 7 makes 1,200", "math", "1,200", "number"),
    ("cut off in the middle", "First we add 5 and", "math", "5", "number"),
    ("nothing", "I do not know", "math", None, "none"),
    ("empty", "", "math", None, "none"),
    ("only the number", "The answer is 12 apples", "number", "12", "said"),
    ("a boxed letter", r"\boxed{\text{(C)}}", "choice", "C", "boxed"),
    ("a said letter", "the answer is (C).", "choice", "C", "said"),
    ("a bold letter", "I choose **C**", "choice", "C", "bold"),
    ("a letter in brackets", "It must be (C)", "choice", "C", "parenthesis"),
    ("no letter", "A bee can see", "choice", None, "none"),
    ("words", "Answer: New York", "text", "New York", "label"),
    ("a short response", " Paris ", "text", "Paris", "text"),
    ("your own pattern", "result => 42;", r"re:=>\s*(\w+)", "42", "pattern"),
]

# each line is one answer in many spellings
SAME: list[list[str]] = [
    [
        "1/2",
        "0.5",
        r"\frac{1}{2}",
        r"\frac12",
        r"\dfrac{1}{2}",
        "50%",
        r"50\%",
        ".5",
        "½",
        "x = 1/2",
        r"$\tfrac{1}{2}$.",
    ],
    ["1234", "1,234", r"1,\!234", "1234.0", r"\$1,234", "1234 dollars", r"1234 \text{ dollars}", "１２３４", "١٢٣٤"],
    ["9/5", "1.8", r"1\frac{4}{5}", "1 4/5"],
    ["8", "2^3", "2^{3}", "2**3", r"\sqrt{64}", r"4 \cdot 2", "4×2", "2³"],
    [r"2\sqrt{3}", r"\sqrt{12}", "2*sqrt(3)", "2√3", r"\frac{6}{\sqrt{3}}"],
    ["90", r"90^\circ", "90°", "90 degrees", r"90^{\circ}"],
    ["(1,2)", "( 1 , 2 )", r"\left(1, \frac{4}{2}\right)"],
    [r"\{1,2\}", "1, 2", "2, 1", "1 and 2", "2 or 1"],
    ["[0,1)", "[ 0, 1 )"],
    [r"(-\infty,2]", r"\left(-\infty, 2\right]", "(-∞, 2]"],
    [r"3 \pm 2", "5, 1", "3 ± 2"],
    ["x+1", "1+x", "(x+1)", "1 + x"],
    ["a*b+2*a", "a(b+2)", "2a+ab"],
    ["2*x+3=0", "2x = -3", "-2x-3 = 0"],
    ["C", "(C)", r"\text{(C)}", "C.", r"\boxed{C}"],
    ["East", "east", r"\text{East}", "EAST."],
    [r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{bmatrix} 1 & 2 \\ 3 & \frac{8}{2} \end{bmatrix}"],
    ["6-5i", "-5i+6", "6 - 5 i"],
    ["52", "52_8", "52_{8}"],
    ["-3", "−3", "- 3"],
    ["-i", "i^3", "1/i"],
    ["x^2+2x+1", "(x+1)^2", "(1+x)(1+x)"],
    [r"\frac{1}{x^2}", "1/x^2", "x^{-2}"],
    ["2i", r"\sqrt{-4}"],
    [r"\frac{\sqrt{2}}{2}", r"\sqrt{\frac12}", "(1/2)^{1/2}", "1/√2"],
    ["3", r"\sqrt[3]{27}", "3^1"],
    ["120", "5!", "2+118"],
    [r"\sqrt{6}", r"\sqrt{2}\sqrt{3}", r"\sqrt{2} \cdot \sqrt{3}"],
    [r"\frac{1}{7}", r"\\frac{1}{7}"],
]

# pairs that are not the same
DIFFERENT: list[tuple[str, str]] = [
    ("1/2", "1/3"), ("0.333", "1/3"), ("(1,2)", "(2,1)"), ("[0,1]", "[0,1)"), ("x+1", "x-1"), ("east", "west"),
    ("6 or less", "6"), ("10 am", "10 pm"), ("no", "on"), ("f(3)", "3f"), ("3", "-3"), ("12", "twelve"), ("2x", "2"), ("A", "B"),
]  # fmt: skip

# the same only to somebody who knows more than the normal form
JUDGED: list[tuple[str, str]] = [
    (r"\cot x", r"\frac{\cos x}{\sin x}"),
    (r"\frac{1}{1+\sqrt{2}}", r"\sqrt{2}-1"),
    (r"\binom{10}{3}", "120"),
]
