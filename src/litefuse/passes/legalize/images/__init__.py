"""Images and boxes."""
