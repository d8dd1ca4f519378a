complete --keep-order --exclusive --command kubectl-pdb --arguments "(COMPLETE=fish kubectl-pdb -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"
