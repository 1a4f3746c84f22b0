"""The API's views of each row: one model per kind of object, which is also its documentation in openapi.json."""
