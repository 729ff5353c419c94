"""Extract untrusted pages in worker processes that can be killed."""
