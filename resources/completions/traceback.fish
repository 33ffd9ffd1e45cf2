# fish completion for traceback.
# The words come from the program itself: traceback complete-words.

function __traceback_words
    set -l words (commandline -opc)
    set -l command $words[2]
    $words[1] complete-words $command 2>/dev/null
end

# Options and commands with what they are about, or the values of the option before.
function __traceback_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l previous $words[-1]
    set -l kind -
    set -l positional word
    set -l offered
    for line in (__traceback_words)
        set -l fields (string split \t -- $line)
        switch $fields[1]
            case command
                set -a offered "$fields[2]"\t"$fields[4]"
            case option
                set -a offered "$fields[2]"\t"$fields[4]"
                test "$fields[2]" = "$previous"; and set kind $fields[3]
            case positional
                test $positional = word; and set positional $fields[3]
        end
    end
    if test (count $words) -gt 1
        if test "$kind" = -; and not string match -q -- '-*' $current
            set kind $positional
        end
        switch "$kind"
            case -
            case snap
                __fish_complete_suffix .tbsnap
                return
            case file
                __fish_complete_path $current
                return
            case folder
                __fish_complete_directories $current
                return
            case process
                __fish_complete_pids
                return
            case '*|*'
                string split '|' -- $kind
                return
            case '*'
                return
        end
    end
    printf '%s\n' $offered
end

# Behind the name of the program that is run everything is that program's own.
function __traceback_runs
    set -l words (commandline -opc)
    test "$words[2]" = run; and contains -- -- $words
end

complete -c traceback -f -n 'not __traceback_runs' -a '(__traceback_complete)'
complete -c traceback -n __traceback_runs -a '(__fish_complete_subcommand --fcs-skip=(math (contains -i -- -- (commandline -opc))))'
