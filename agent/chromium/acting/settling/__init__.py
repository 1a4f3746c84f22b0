"""When a page is looked at: after what an action or its load began has come."""
