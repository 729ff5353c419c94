"""Take the rest of a page, which is not its main part, out of its tree and write it as Markdown."""
