"""What a browser may open: egress proxy, addresses, robots.txt."""
