"""The ladder: every agent of a game on the same deals, as a page and as JSON."""
