"""Optional second opinions on the order of passages, over HTTP and off by default. Nothing here is needed to answer."""
