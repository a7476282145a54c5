"""JSON output of commands: one document with the options, the files read and written, and the result; its schema."""
