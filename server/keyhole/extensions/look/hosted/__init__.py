"""The pages on a server for many users: sign-in, limits, and the operator's view."""
