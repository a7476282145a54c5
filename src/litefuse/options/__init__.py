"""What users choose: forms of composites, shapes, limits, ops that may be custom."""
