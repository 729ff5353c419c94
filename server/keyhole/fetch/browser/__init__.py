"""Render pages that scripts write, in a browser that reaches the network only through a proxy of this server."""
