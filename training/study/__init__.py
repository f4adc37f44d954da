"""What a game is made of: worth of its parts, and luck beside skill, for a notebook to show."""
