"""A loopback web: pages of openly licensed manuals, the sites that serve them, and a search engine over them."""
