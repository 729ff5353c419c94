"""Extraction of untrusted bytes in processes that can be killed: a pool, its children, and what failure leaves."""
