"""From a URL to a Page. client.py, exchange.py, backend.py, lookup.py and tunnel.py do; the others only decide."""
