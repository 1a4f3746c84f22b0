"""What a session does that opens a loop: finding its items, and handing them on."""
