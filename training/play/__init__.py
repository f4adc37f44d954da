"""Playing the games on a local web page, and the page that shows replays too."""
