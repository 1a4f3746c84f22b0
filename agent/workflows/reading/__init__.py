"""Reading one page by a learned branch: what stands at its channels, and every guard that costs no model call."""
