"""Measures on a corpus's own questions whether a sentence per chunk is worth it."""
