"""Read, cut, ask and write: what the command line and callers run."""
