"""Reading by the places that a job gives: selectors, labels, columns of tables, paths in JSON."""
