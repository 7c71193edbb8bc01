"""What models do beside passing or failing: copying, switching language, repeating, taking shortcuts.

One measurement a file. Each reads texts and gives numbers with examples; none changes a verdict.
"""
