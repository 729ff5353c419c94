"""Limits on the calls of a hosted server: rates, concurrent calls, admission."""
