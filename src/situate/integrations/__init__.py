"""Bridges to the frameworks that people index with, one module each.

What they embed is a chunk's `embed_text` and what they show its `text`, both to the
letter. A bridge cuts nothing and derives nothing: documents go through the pipeline's
own reading and cutting, records through the reader of records. Nothing else of situate
imports these modules, each of which needs its framework.
"""
