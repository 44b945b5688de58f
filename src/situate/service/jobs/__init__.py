"""Jobs on a disk: what came in, what came of it, and who is told."""
