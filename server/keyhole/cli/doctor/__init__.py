"""A look at the whole installation: what is well, what is not, and what mends it. Mends nothing itself."""
