"""A web of our own on loopback: pages from openly licensed manuals, the sites that serve them, engines that find them."""
