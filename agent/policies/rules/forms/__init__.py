"""Forms: chosen, filled, sent, and their outcome judged."""
