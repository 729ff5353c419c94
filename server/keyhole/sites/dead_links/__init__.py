"""Name real addresses near an address that is dead: from the site's own lists, a repository's tree or a package."""
