"""Progress of long work: its steps, the stages that users see of them, and how they are shown."""
