"""What `extraction.py` is made of: peers, their environments and runners, scores, tables, pages that grow or hurt.

No page is kept here, and nothing of this is imported by the server.
"""
