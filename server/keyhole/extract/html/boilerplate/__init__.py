"""Tell the content of a page from menus, footers and other boilerplate."""
