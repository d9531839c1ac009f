"""Plans as pictures: the same values drawn on a page, in Markdown and on a terminal."""
