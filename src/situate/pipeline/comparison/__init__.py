"""What `compare` and `queries make` do for a corpus."""
