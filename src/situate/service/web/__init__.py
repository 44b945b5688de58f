"""The service over HTTP: who may ask, what for, and what the answers look like."""
