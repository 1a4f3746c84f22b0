"""One record of one page: structured data, main text, labels, and how their witnesses are settled."""
