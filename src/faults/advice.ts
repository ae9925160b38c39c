/**
 * A hint with gaps for settings, commands and chat commands. The library and the servers print a plain sentence; the
 * command line fills the gaps with its flags and commands.
 */
export type Advice = ReadonlyArray<string | AdviceGap>;

export type AdviceGap =
  | { type: 'setting'; name: string; value: string | null; plain: string }
  | { type: 'command'; words: string; settings: Readonly<Record<string, string>>; plain: string }
  | { type: 'chat'; word: string };

/** advice`Ask a narrower question, or raise ${settingName('maxSteps')}.` */
export function advice(texts: TemplateStringsArray, ...gaps: Array<string | AdviceGap>): Advice {
  return texts.flatMap((text, index) => [text, gaps[index] ?? '']).filter((part) => part !== '');
}

/** A setting by its camelCase name; `plain` replaces the name in the plain sentence. */
export function settingName(name: string, plain = name): AdviceGap {
  return { type: 'setting', name, value: null, plain };
}

/** Names the setting on the command line only: "choose another model" + " with --model". */
export function withSetting(name: string): AdviceGap {
  return { type: 'setting', name, value: null, plain: '' };
}

/** A setting with the recommended value. */
export function settingValue(name: string, value: string, plain: string): AdviceGap {
  return { type: 'setting', name, value, plain };
}

/** A command with settings as flags; `plain` is printed instead where there are no commands. */
export function viaCommand(
  words: string,
  settings: Readonly<Record<string, string>> = {},
  plain = '',
): AdviceGap {
  return { type: 'command', words, settings, plain };
}

/** A chat command, such as `/reset`, named on the command line only. */
export function slashCommand(word: string): AdviceGap {
  return { type: 'chat', word };
}

/** The hint for a collection that does not exist, or is empty. */
export function ingestAdvice(verb: 'Create' | 'Fill', collection: string): Advice {
  const via = viaCommand('ingest <path>', { collection }, ' by ingesting documents into it');
  return [`${verb} it`, via];
}

/** The hint as a plain sentence, without flags and commands. */
export function formatPlainAdvice(given: Advice): string {
  const text = given
    .map((part) => (typeof part === 'string' ? part : 'plain' in part ? part.plain : ''))
    .join('');
  const last = given.at(-1);
  return typeof last === 'object' && last.type === 'command' ? `${text}.` : text;
}
