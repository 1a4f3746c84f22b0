"""Notations in which models write actions, one file each: `parse` reads a reply, `format` writes one."""
