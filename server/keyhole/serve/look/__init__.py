"""The page that shows what agents read: sessions, calls, stored texts, misses and figures, as HTML."""
