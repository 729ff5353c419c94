"""What Keyhole knows about web sites: their lists of links, and where the page of a dead address may be. Pure."""
