"""Network rules of a browser: egress proxy, addresses, robots.txt."""
