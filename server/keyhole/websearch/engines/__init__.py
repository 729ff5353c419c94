"""One file for each search engine, and what several of them share."""
