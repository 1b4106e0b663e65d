"""Write examples/graded.jsonl, invented responses in sentences with a grade each: python -m docs.free.example."""

from __future__ import annotations

import json
import random
from pathlib import Path

FILE = Path(__file__).parents[2] / "examples" / "graded.jsonl"
QUESTIONS = [  # the id, the question, the correct answer and two wrong ones
    ("velmora", "What is the capital of the island of Velmora?", "Tarnhaven", "Port Sella", "Quillby"),
    ("ferryman", "Who wrote the novel 'The Glass Ferryman'?", "Ines Corvalho", "Otto Lindqvist", "Mara Feld"),
    ("bridge", "In which year did the Harrow Bridge open?", "1874", "1847", "1891"),
    ("river", "Which river flows through the town of Bexley Marsh?", "the Osk", "the Tamble", "the Wren"),
    ("opera", "Who composed the opera 'Winter at Calder'?", "Jonas Achterberg", "Elise Moreau", "Petr Hlavac"),
    ("mountain", "What is the highest mountain of the Sennet Range?", "Arkady Peak", "Pell Horn", "Grey Needle"),
    ("mines", "Which metal did the Dunmore mines produce?", "cobalt", "nickel", "tin"),
    ("mayor", "Who was the first mayor of Larkspur?", "Agnes Whitlow", "Thomas Breck", "Henry Vance"),
    ("islands", "How many islands belong to the Fenwick archipelago?", "27", "72", "31"),
    ("flower", "What is the national flower of Ostravia?", "blue gentian", "white lily", "red poppy"),
    ("lighthouse", "Who designed the lighthouse at Cape Morrow?", "Silas Drummond", "Clara Penrose", "Edwin Hale"),
    ("university", "In which year was the University of Brandt founded?", "1603", "1630", "1712"),
    ("language", "Which language is spoken in the Ilva valley?", "Romansk", "Ladian", "Friulese"),
    ("treaty", "What was the Talbot Treaty about?", "fishing rights", "a border dispute", "grain tariffs"),
    ("comet", "Who discovered the comet of 1788?", "Marisol Reyes", "Daniel Holt", "Anton Kravets"),
    ("cup", "Which team won the first Northern Cup?", "Ashford Rovers", "Kelso United", "Merrin Athletic"),
    ("flag", "Which animal is on the flag of Carbonia Nova?", "a heron", "an otter", "a stag"),
    ("tunnel", "How long is the Sutter Tunnel in kilometres?", "14.2", "12.4", "9.8"),
    ("exchange", "Which architect rebuilt the Old Exchange in Marle?", "Beatrix Olander", "Hugo Stein", "Luc Fabre"),
    ("explorer", "What did Anselm Roe bring back from Kiruma?", "a jade mask", "a bronze bell", "a map"),
]
LLMS = {  # the chance of a correct answer, and how it is worded
    "alder": (0.85, "It is **{}**."),
    "birch": (0.8, "The answer is {}, as far as I know."),
    "cedar": (0.7, "{}."),
    "elm": (0.6, "I believe it is {}, but sources differ."),
    "fir": (0.5, "That would be **{}**, according to most historians."),
}
DECLINING = 0.06
DECLINED = "I don't have reliable information about that."


def lines(seed: int = 0) -> str:
    """Return one line of JSON per response."""
    rng, written = random.Random(seed), []
    for name, prompt, *answers in QUESTIONS:
        for llm, (chance, wording) in LLMS.items():
            answer = answers[0] if rng.random() < chance else rng.choice(answers[1:])
            declined = rng.random() < DECLINING
            grade = "N" if declined else "C" if answer == answers[0] else "I"
            response = DECLINED if declined else wording.format(answer)
            row = {"question": name, "prompt": prompt, "llm": llm, "response": response, "grade": grade}
            written.append(json.dumps(row) + "\n")
    return "".join(written)


if __name__ == "__main__":
    FILE.write_text(lines())
