"""Parts of the load test: its servers, a raw client, the calls and their checks."""
