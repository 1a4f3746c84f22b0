"""What a page states of its record: labels with values, named elements, headings, texts, and fetched JSON."""
