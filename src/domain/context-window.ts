/** What a model holds of which its service says nothing: the least that is in use. */
const FLOOR = 8192;

/**
 * Models whose window is the same wherever they are asked. Open weights are not among them: whoever serves them decides
 * how much of their window there is.
 */
const WELL_KNOWN: ReadonlyArray<[RegExp, number]> = [
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

/** The tokens that a model holds, by its name, with or without the vendor's in front of it. */
export function contextWindowOf(model: string): number {
  const name = model.toLowerCase().split('/').at(-1) ?? '';
  return WELL_KNOWN.find(([pattern]) => pattern.test(name))?.[1] ?? FLOOR;
}

/**
 * The window that a service tells of in words when a request was too long for it, such as "maximum context length is 4096
 * tokens"; undefined if it does not say.
 */
export function windowToldIn(words: string): number | undefined {
  const [, digits] = TOLD.exec(words) ?? [];
  return digits === undefined ? undefined : Number(digits.replace(/[,_]/g, ''));
}

const TOLD =
  /(?:context (?:length|window|size)|n_ctx|token limit|limit|maximum)\D{0,40}?(\d[\d,_]{2,})(?:\s*tokens|\b)/i;
