"""What asks the models: Inspect AI tasks and scorer, the embedded model, and the driver of whole runs."""
