"""Play of Bibliogamo that knows the hidden order of the cards: lines and bounds, and no agents."""
