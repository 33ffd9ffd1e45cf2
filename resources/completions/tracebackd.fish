# fish completion for tracebackd: what its help names.

complete -c tracebackd -f -a '(tracebackd --help 2>/dev/null | string match -rg -- "^ +(?:-[a-z], ?)?(--[a-z-]+)")'
