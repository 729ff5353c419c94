"""From a URL to a Page. urls.py and addresses.py decide and touch nothing; client.py and backend.py do."""
