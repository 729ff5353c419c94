"""Tell a page's content from menus, footers and other boilerplate."""
