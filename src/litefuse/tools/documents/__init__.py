"""What commands print as JSON: one document, with what was asked, read, written and found, and a schema for it."""
