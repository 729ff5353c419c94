"""Detect pages that are failures although the server reported success."""
