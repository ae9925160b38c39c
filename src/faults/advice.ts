/**
 * What a person can do next, in words that hold wherever they are read, with gaps for what not everybody has: a
 * setting, a command of the program, a word of the chat. Programs and servers read it plain; the command line writes
 * its own flags and commands into the gaps.
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

/** A setting by the name that it has for programs, and how a sentence speaks of it where that name says too little. */
export function setting(name: string, plain = name): Gap {
  return { type: 'setting', name, value: null, plain };
}

/** The setting that does what the words before it say. */
export function bySetting(name: string): Gap {
  return { type: 'setting', name, value: null, plain: '' };
}

/** A setting with the value that it should have. */
export function settingOf(name: string, value: string, plain: string): Gap {
  return { type: 'setting', name, value, plain };
}

/** The command that does what the words before it say, and how it is done without it where they do not say that. */
export function command(words: string, settings: Readonly<Record<string, string>> = {}, plain = ''): Gap {
  return { type: 'command', words, settings, plain };
}

/** The word in a chat that does what the words before it say. */
export function chatWord(word: string): Gap {
  return { type: 'chat', word };
}

/** Where one finds what is accepted. */
export function help(): Gap {
  return { type: 'help' };
}

/** For whoever asks for a collection that there is not. */
export function makeCollection(collection: string): Advice {
  return advice`Make it${command('ingest <path>', { collection }, ' by ingesting documents into it')}`;
}

/** For whoever asks for a collection that holds nothing. */
export function fillCollection(collection: string): Advice {
  return advice`Fill it${command('ingest <path>', { collection }, ' by ingesting documents into it')}`;
}

/** As everybody can read it: a whole sentence. */
export function plainly(given: Advice): string {
  const text = given
    .map((part) => (typeof part === 'string' ? part : 'plain' in part ? part.plain : ''))
    .join('');
  const last = given.at(-1);
  return typeof last === 'object' && last.type === 'command' ? `${text}.` : text;
}
