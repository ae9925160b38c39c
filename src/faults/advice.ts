/**
 * A hint with gaps for settings, commands and chat commands. The library and the servers print a plain sentence; the
 * command line fills the gaps with its flags and commands.
 */
export type Advice = ReadonlyArray<string | Gap>;

export type Gap =
  | { type: 'setting'; name: string; value: string | null; plain: string }
  | { type: 'command'; words: string; settings: Readonly<Record<string, string>>; plain: string }
  | { type: 'chat'; word: string }
  | { type: 'help' };

/** advice`Ask a narrower question, or raise ${setting('maxSteps')}.` */
export function advice(texts: TemplateStringsArray, ...gaps: Array<string | Gap>): Advice {
  return texts.flatMap((text, index) => [text, gaps[index] ?? '']).filter((part) => part !== '');
}

/** A setting by its camelCase name; `plain` replaces the name in the plain sentence. */
export function setting(name: string, plain = name): Gap {
  return { type: 'setting', name, value: null, plain };
}

/** Names the setting on the command line only: "choose another model" + " with --model". */
export function bySetting(name: string): Gap {
  return { type: 'setting', name, value: null, plain: '' };
}

/** A setting with the recommended value. */
export function settingOf(name: string, value: string, plain: string): Gap {
  return { type: 'setting', name, value, plain };
}

/** A command with settings as flags; `plain` is printed instead where there are no commands. */
export function command(words: string, settings: Readonly<Record<string, string>> = {}, plain = ''): Gap {
  return { type: 'command', words, settings, plain };
}

/** A chat command, such as `/reset`, named on the command line only. */
export function chatCommand(word: string): Gap {
  return { type: 'chat', word };
}

/** Points to `--help`, on the command line only. */
export function seeHelp(): Gap {
  return { type: 'help' };
}

/** The hint for a collection that does not exist. */
export function createCollectionAdvice(collection: string): Advice {
  return advice`Create it${command('ingest <path>', { collection }, ' by ingesting documents into it')}`;
}

/** The hint for an empty collection. */
export function fillCollectionAdvice(collection: string): Advice {
  return advice`Fill it${command('ingest <path>', { collection }, ' by ingesting documents into it')}`;
}

/** The hint as a plain sentence, without flags and commands. */
export function plainly(given: Advice): string {
  const text = given
    .map((part) => (typeof part === 'string' ? part : 'plain' in part ? part.plain : ''))
    .join('');
  const last = given.at(-1);
  return typeof last === 'object' && last.type === 'command' ? `${text}.` : text;
}
