"""Job specs: parsed and checked before they are stored."""
