"""The layouts people's files have, one per file, named as the user types it (lm_eval.py: lm-eval).

A layout knows its files and turns their records into the rows of our table. What it may look at: recognition.py.
"""
