"""One situating sentence per chunk, where a corpus asks for it.

Planning, judging and pricing are pure; `live` and the providers are the only
places that wait for anything. Chunks arrive as values and leave as values: a
chunk that could not be enriched keeps its breadcrumb and says why.
"""
