"""How similar two responses are, one similarity per file; the file name is the name users type.

A new similarity is one file with one class that inherits `Similarity` or `FeatureSimilarity` (similarity.py).
"""
