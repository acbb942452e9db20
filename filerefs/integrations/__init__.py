"""filerefs in other programs' frameworks: one module for each, loaded by whoever uses it and by nothing else."""
