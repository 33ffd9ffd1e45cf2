# fish completion for traceback-viewer: what its help names.

complete -c traceback-viewer -a '(traceback-viewer --help 2>/dev/null | string match -rg -- "^ +(?:-[a-z], )?(--[a-z-]+)")'
