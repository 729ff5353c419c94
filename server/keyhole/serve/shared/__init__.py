"""Share one server among all clients of a user: each client starts a relay, and the first relay starts the server.

A relay imports only the standard library and starts in a few milliseconds. See docs/how-it-works/shared-server.md.
"""
