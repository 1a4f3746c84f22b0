"""The one name for a value that JSON can express.

Where the shape is known, a typed record says more than `Json`.
"""

from typing import Any

Json = Any
"""None, bool, int, float, str, or a list or dict (with string keys) of such values."""
