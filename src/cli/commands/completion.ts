import { existsSync } from 'node:fs';
import { createApp } from '../../app/create-app.ts';
import { openSessionStore, sessionStorePath } from '../../app/sessions.ts';
import { type AppConfig, loadConfig } from '../../config/load-config.ts';
import { settingNames } from '../../config/settings.ts';
import { OFFLINE_MODEL } from '../../domain/setting-choices.ts';
import { oneLine } from '../../text/visible-text.ts';
import {
  acceptedOptions,
  type CommandNode,
  lastWord,
  listSubcommands,
  optionTakesValue,
  parseCommandLine,
} from '../flags/command-definition.ts';

/** Each runs `citeloop --complete` with the words so far, and completes file names if that prints nothing. */
const completionScripts = {
  bash: `# citeloop completion bash >> ~/.bashrc
_citeloop() {
  local IFS=$'\\n' line=\${COMP_LINE:0:COMP_POINT} last=-1 words part begun candidate
  words=()
  # Bash splits words at : and =, and replaces only the text after the last one.
  for part in "\${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    if [[ $last -ge 0 && $line != [[:space:]]* ]]; then
      words[last]+=$part
    else
      line=\${line#"\${line%%[![:space:]]*}"}
      words[++last]=$part
    fi
    line=\${line#"$part"}
  done
  # Without quotes, as the shell would pass them.
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

const LISTED_SESSIONS = 30;

export interface CompletionFlags {
  shell?: keyof typeof completionScripts | undefined;
}

export function printCompletion({ shell = 'bash' }: CompletionFlags): void {
  process.stdout.write(completionScripts[shell]);
}

type Candidate = Record<'word' | 'describe', string>;

/** Prints the completions of the last word: one per line, with a description after a tab. */
export async function printCandidates(program: CommandNode, words: readonly string[]): Promise<void> {
  const typed = words.at(-1) ?? '';
  // The value of `--model=name` is completed like that of `--model name`.
  const [, flag = '', start = typed] = /^(--[^=]+=)(.*)$/s.exec(typed) ?? [];
  const before = [...words.slice(0, -1), ...(flag === '' ? [] : [flag.slice(0, -1)])];
  for (const { word, describe } of await findCandidates(program, before, start)) {
    if (word.startsWith(start)) process.stdout.write(`${flag}${word}\t${oneLine(describe, 80)}\n`);
  }
}

async function findCandidates(
  program: CommandNode,
  before: readonly string[],
  start: string,
): Promise<Candidate[]> {
  const { command, words, flags } = parseCommandLine(program, before);
  const last = flags.at(-1);
  if (
    last?.option &&
    optionTakesValue(last.option) &&
    last.value === undefined &&
    before.at(-1) === last.typed
  ) {
    return findValues(last.name ?? '', last.option.choices, before);
  }
  if (start.startsWith('-')) {
    const given = new Set(flags.map(({ name }) => name));
    return Object.entries(acceptedOptions(command))
      .filter(([name, { array }]) => array || !given.has(name))
      .toSorted(([, a], [, b]) => Number(a.isAdvanced ?? false) - Number(b.isAdvanced ?? false))
      .map(([name, { describe }]) => ({ word: `--${name}`, describe }));
  }
  const commands = (words.length > 0 ? [] : listSubcommands(command)).map(({ name, definition }) => ({
    word: lastWord(name),
    describe: definition.describe,
  }));
  const positional = command.positionals[words.length];
  const kind = command.name === 'encoders remove' ? 'encoder' : positional?.name;
  const values = positional && (await findValues(kind ?? '', positional.choices, before));
  return [...commands, ...(values ?? [])];
}

async function findValues(
  name: string,
  choices: readonly string[] | undefined,
  before: readonly string[],
): Promise<Candidate[]> {
  const describeAll = (words: readonly string[], describe: string) =>
    words.map((word) => ({ word, describe }));
  if (choices !== undefined) return describeAll(choices, '');
  if (name === 'setting') return describeAll(settingNames, '');
  const configPath = /(?:^|\n)--config[=\n](.+)/.exec(before.join('\n'))?.[1];
  const config = loadConfig({ configPath, whenUntrusted: 'ignore' });
  switch (name) {
    case 'collection':
    case 'name':
    case 'from':
      // Only local collections: a server is too slow for every press of Tab.
      return config.store === 'sqlite' ? describeAll(await listCollectionNames(config), 'collection') : [];
    case 'session':
    case 'id': {
      const sessions = await listSessions(config);
      const found = sessions.map(({ sessionId, title }) => ({
        word: sessionId.slice(0, 8),
        describe: title ?? '',
      }));
      return found.length === 0 ? [] : [{ word: 'last', describe: 'The newest' }, ...found];
    }
    case 'encoder': {
      const { readEncoders } = await import('./encoders.ts');
      return readEncoders(config.home).map(({ name: word, kind: describe }) => ({ word, describe }));
    }
    case 'model':
      return describeAll([...new Set([OFFLINE_MODEL, config.agent.model])], 'model');
    default:
      return [];
  }
}

async function listCollectionNames(config: AppConfig): Promise<string[]> {
  const app = createApp(config, { signal: new AbortController().signal, onEvent: () => {} });
  return app.catalog.list().finally(() => app.close());
}

async function listSessions(config: AppConfig) {
  // Opening the sessions would create the file.
  if (!existsSync(sessionStorePath(config))) return [];
  const store = await openSessionStore(config);
  return store.list({ limit: LISTED_SESSIONS }).finally(() => store.close());
}
