"""Serve hostile bodies of many kinds to a shared server, and time another client's calls meanwhile."""
