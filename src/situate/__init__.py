"""Structure-first chunks with their context, ready to embed."""
