"""A web of our own on loopback: pages of openly licensed manuals, sites that serve them, engines that find them."""
