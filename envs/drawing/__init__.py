"""Pictures: a scene of plain shapes, drawn as SVG, as pixels, or in a window."""
