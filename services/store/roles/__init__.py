"""The methods of the store, by who calls them. Each is one transaction of a function in a neighbouring room."""
