"""The living index of a corpus: from documents to the delta that a store takes in."""
