"""Fetch pages from servers and name servers that fail at a chosen point, and judge how each call ends."""
