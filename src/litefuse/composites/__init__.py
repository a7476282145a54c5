"""The pass that fuses composites: a body replaced by its fused op, or kept with the reason."""
