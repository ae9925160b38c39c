/**
 * What each shell runs to know what could be typed next: `citeloop --complete` with the words so far. They are offered
 * in its order, the newest session first. Where it knows nothing, the shell offers files.
 */
export const completionScripts = {
  bash: `# citeloop completion bash >> ~/.bashrc
_citeloop() {
  local IFS=$'\\n' line=\${COMP_LINE:0:COMP_POINT} last=-1 words part begun candidate
  words=()
  # Bash takes words apart at : and =, and replaces only what stands behind the last of them.
  for part in "\${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    if [[ $last -ge 0 && $line != [[:space:]]* ]]; then
      words[last]+=$part
    else
      line=\${line#"\${line%%[![:space:]]*}"}
      words[++last]=$part
    fi
    line=\${line#"$part"}
  done
  # As the shell would hand them over: without what quotes them.
  words=("\${words[@]//[\\"\\'\\\\\\\\]/}")
  begun=\${words[last]}
  COMPREPLY=()
  while read -r candidate; do
    COMPREPLY+=("$(printf %q "\${candidate#"\${begun%"\${begun##*[:=]}"}"}")")
  done < <(citeloop --complete "\${words[@]:1}" 2>/dev/null | cut -f1)
  if [ \${#COMPREPLY[@]} -eq 0 ]; then compopt -o default; else compopt -o nosort; fi 2>/dev/null
}
complete -F _citeloop citeloop
`,
  zsh: `#compdef citeloop
# citeloop completion zsh > "\${fpath[1]}/_citeloop", or: source <(citeloop completion zsh) in ~/.zshrc
_citeloop() {
  local -a candidates
  local line
  while IFS= read -r line; do
    candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <(citeloop --complete "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)
  if (( \${#candidates} )); then _describe -V 'citeloop' candidates; else _files; fi
}
if [ "$funcstack[1]" = "_citeloop" ]; then
  _citeloop "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _citeloop citeloop
fi
`,
  fish: `# citeloop completion fish > ~/.config/fish/completions/citeloop.fish
function __citeloop_complete
    set -l words (commandline -opc)
    set -l begun (commandline -ct | string unescape)
    set -l found (citeloop --complete $words[2..-1] "$begun" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path "$begun"
    end
end
complete -c citeloop -f -k -a '(__citeloop_complete)'
`,
} as const;
