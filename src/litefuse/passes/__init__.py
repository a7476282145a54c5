"""The passes: each takes a valid module and leaves a valid module, and knows nothing of the others."""
