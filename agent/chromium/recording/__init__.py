"""Recordings of pages: their DOM events, by rrweb's recorder in a world beside the page's own."""
