"""Layouts of response files, one per module, named as the user types it (lm_eval.py: lm-eval).

A layout recognises its files and converts their records to the standard columns. recognition.py has the interface.
"""
