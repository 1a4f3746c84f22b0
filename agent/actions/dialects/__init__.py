"""Notations in which models and other tools write actions, one file each.

`parse` reads a reply, `format` writes one; a round trip loses nothing that the notation can express. What a notation
cannot express, `format` refuses with `ActionInvalid`; what `parse` cannot read, it refuses with `ReplyUnparsable`.
"""
