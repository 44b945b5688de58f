"""What there is to see of documents and chunks, with nothing changed."""
