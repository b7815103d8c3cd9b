"""Video on its way to pages, and the connections that carry it."""
