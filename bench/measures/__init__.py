"""What bench/compare measures, a file per group, and what the groups share. Standard library only."""
