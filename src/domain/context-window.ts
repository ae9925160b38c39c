/** For unknown models: the smallest window in common use. */
const DEFAULT_WINDOW = 8192;

/** Hosted models only: the window of open weights depends on the server. */
const KNOWN_WINDOWS: ReadonlyArray<[RegExp, number]> = [
  [/^gpt-5/, 400_000],
  [/^gpt-4\.1/, 1_000_000],
  [/^(gpt-4o|chatgpt-4o|gpt-4-turbo)/, 128_000],
  [/^gpt-4-32k/, 32_768],
  [/^gpt-4/, 8192],
  [/^gpt-3\.5-turbo/, 16_385],
  [/^o1-(mini|preview)/, 128_000],
  [/^o[134](-|$)/, 200_000],
  [/^claude-/, 200_000],
  [/^gemini-/, 1_000_000],
];

/** The context window of a model in tokens, by its name with or without the vendor's prefix. */
export function knownContextWindow(model: string): number {
  const name = model.toLowerCase().split('/').at(-1) ?? '';
  return KNOWN_WINDOWS.find(([pattern]) => pattern.test(name))?.[1] ?? DEFAULT_WINDOW;
}

/** The window in an error message of a service, such as "maximum context length is 4096 tokens"; undefined without one. */
export function parseContextWindow(message: string): number | undefined {
  const [, digits] = WINDOW_IN_MESSAGE.exec(message) ?? [];
  return digits === undefined ? undefined : Number(digits.replace(/[,_]/g, ''));
}

const WINDOW_IN_MESSAGE =
  /(?:context (?:length|window|size)|n_ctx|token limit|limit|maximum)\D{0,40}?(\d[\d,_]{2,})(?:\s*tokens|\b)/i;
