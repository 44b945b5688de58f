"""situate behind an address: jobs that survive, an engine that asks, an app on top.

No chunking or enriching logic is in here: documents are handed to the pipeline, and
what comes of them is kept until it is fetched.
"""
