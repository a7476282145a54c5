"""The pass that fuses composites: replaces a body by its fused op, or keeps it and records the reason."""
