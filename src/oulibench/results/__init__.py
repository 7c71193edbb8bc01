"""From scored rows to statistics, tables, figures and the report."""
