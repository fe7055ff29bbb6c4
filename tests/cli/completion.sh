#!/usr/bin/env bash
# Completion scripts, tried in the shells they are for: bash, and zsh and fish where they are installed.
program=("${TWINSIFT:?the program to test}") named=twinsift
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"
mkdir bin && ln -s "$TWINSIFT" bin/twinsift && PATH=$PWD/bin:$PATH
: >corpus.jsonl
: >other.txt
mkdir folder

# Each case: the words of a command line, the last one to be completed | words that must be offered | words that must
# not be.
cases=(
    'twinsift p | pairs plan | index'
    'twinsift in | index | pairs'
    'twinsift sh | show | pairs'
    'twinsift comp | completion | pairs'
    'twinsift index query news.twin --ha |  | --hash --hashes'
    'twinsift index query news.twin --ke |  | --keep --key-file'
    'twinsift index create news.twin --ha | --hash --hashes | --hidden'
    'twinsift show --si | --side-by-side | --sets'
    'twinsift help in | index | pairs'
    'twinsift index c | create check compact | add'
    'twinsift bloom a | add | create'
    'twinsift help bloom c | create count | add'
    'twinsift pairs --th | --threshold --threads | --hash'
    'twinsift pairs --copies a | all | first'
    'twinsift pairs --verify e | exact estimate | none'
    'twinsift index pairs --copies f | first | all'
    'twinsift index pairs --au |  | --audit'
    'twinsift index query news.twin --to | --top | --text-field'
    'twinsift index add --strict news.twin --b | --batch | --bands --buckets'
    'twinsift bloom create --layout b | blocks | classic'
    'twinsift bloom create --f | --force | --null'
    'twinsift plan --plot c | corpus.jsonl | other.txt'
    'twinsift pairs co | corpus.jsonl | other.txt'
    'twinsift completion z | zsh | bash'
    'twinsift de | dedup | index'
    'twinsift dedup --g | --groups | --buckets'
    'twinsift dedup --keep l | longest | first'
    'twinsift dedup --update co | corpus.jsonl | other.txt'
    'twinsift dedup corpus.jsonl --temp fo | folder/ | other.txt'
    'twinsift dedup corpus.jsonl -o co | corpus.jsonl | other.txt'
    'twinsift pairs --against co | corpus.jsonl | other.txt'
    'twinsift sign --thr | --threshold --threads | --hash'
    'twinsift sign co | corpus.jsonl | other.txt'
    'twinsift band --p | --part | --shingle'
    'twinsift join --ke | --keep | --key-file'
    'twinsift filter --o | --output | --hash'
    'twinsift ma | mail | dedup'
    'twinsift mail c | check correct compact | learn'
    'twinsift help mail ex | export | import'
    'twinsift mail learn --as s | spam | ham'
    'twinsift mail learn -m co | corpus.jsonl | other.txt'
    'twinsift mail check --ex | --explain | --as'
    'twinsift mail eval --method f | forest | all'
    'twinsift mail eval --trec co | corpus.jsonl | other.txt'
)

# check SHELL: completes each case with the function complete_SHELL, which prints what is offered, one per line.
check()
{
    local row line wanted unwanted word offered
    for row in "${cases[@]}"; do
        IFS='|' read -r line wanted unwanted <<<"$row"
        offered=$("complete_$1" "${line% }")
        for word in $wanted; do
            grep -qxF -e "$word" <<<"$offered" || fail "$1: \"${line% }\" does not offer $word but: $(tr '\n' ' ' <<<"$offered")"
        done
        for word in $unwanted; do
            ! grep -qxF -e "$word" <<<"$offered" || fail "$1: \"${line% }\" offers $word"
        done
    done
}

# ---- bash: calls the function as the shell does

complete_bash()
{
    bash --norc --noprofile -c '
        compopt() { files=1; } # only allowed while a word is completed
        source script.bash
        read -ra COMP_WORDS <<<"$1"
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        files=
        _twinsift
        printf "%s\n" "${COMPREPLY[@]}"
        [ -z "$files" ] || compgen -f -- "${COMP_WORDS[COMP_CWORD]}" | while read -r file; do
            [ ! -d "$file" ] || file+=/
            printf "%s\n" "$file"
        done' bash "$1" 2>&1
}
twinsift completion bash >script.bash || fail 'completion bash'
bash -n script.bash || fail 'the bash script does not parse'
check bash
offered=$(bash --norc --noprofile -c 'compopt() { :; }; source script.bash; COMP_WORDS=(twinsift pairs --hash = s); COMP_CWORD=4
    _twinsift; echo "${COMPREPLY[*]}"')
[ "$offered" = sip ] || fail "bash: --hash=s offers $offered"
bash --norc --noprofile -c 'source script.bash; complete -p twinsift' | grep -q -- '-F _twinsift twinsift' || fail 'bash: not registered'

# The other shells take long; with one build all cases are tried.
[ -z "${TWINSIFT_QUICK-}" ] || cases=("${cases[@]:0:4}")

# ---- zsh: types into a shell on a pseudo-terminal whose compadd writes down what it is given

cat >rc.zsh <<'END'
PS1= RPS1=
unsetopt auto_list # a long list would wait for a key
fpath=($PWD/functions $fpath)
autoload -Uz compinit && compinit -u -d $PWD/zcompdump
compadd()
{
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then # a question of the completion system, no offer
        builtin compadd "$@"
        return
    fi
    local -a offered
    builtin compadd -A offered "$@"
    for word in $offered; do
        [[ ! -d $word ]] || word+=/
        print -r -- $word >>offers
    done
    builtin compadd "$@"
}
complete_and_say_so()
{
    zle expand-or-complete
    : >completed
}
zle -N complete_and_say_so
bindkey '^I' complete_and_say_so
print ready
END
cat >type.zsh <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'source rc.zsh'
zpty -r shell line '*ready*'
: >offers
zpty -w -n shell "$1"$'\t'
until [[ -e completed ]]; do
    sleep 0.02
done
zpty -d shell
END
complete_zsh()
{
    rm -f completed
    timeout 60 zsh -f type.zsh "$1" >/dev/null 2>&1 || fail "zsh: \"$1\" is not completed"
    cat offers
}
twinsift completion zsh >script.zsh || fail 'completion zsh'
if command -v zsh >/dev/null; then
    zsh -n script.zsh || fail 'the zsh script does not parse'
    mkdir functions && cp script.zsh functions/_twinsift
    check zsh
else
    echo 'skipped: zsh, which is not installed'
fi

# ---- fish: has a command that lists what it would offer

complete_fish()
{
    HOME=$PWD fish --no-config -c 'source script.fish; complete -C "$argv[1]" | string replace -r "\t.*" ""' "$1" 2>&1
}
twinsift completion fish >script.fish || fail 'completion fish'
if command -v fish >/dev/null; then
    fish --no-execute script.fish || fail 'the fish script does not parse'
    check fish
else
    echo 'skipped: fish, which is not installed'
fi

twinsift completion tcsh >out 2>err
[ $? = 2 ] && grep -q '"tcsh" is not one of bash, zsh, fish' err || fail "an unknown shell: $(cat err)"
