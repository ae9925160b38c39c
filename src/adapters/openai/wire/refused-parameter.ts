import type { WireError } from './wire-error.ts';

/** What a request can do without. */
const OPTIONAL = ['temperature', 'top_p', 'max_tokens', 'stream_options', 'parallel_tool_calls', 'store'];

const REFUSAL =
  /unsupported|not supported|does(?: not|n't) support|unknown|unrecogni[sz]ed|not permitted|not allowed|extra (?:inputs?|fields?)|forbidden|deprecated|unexpected/i;

/** The optional parameter that the service says it does not know, as reasoning models say of temperature. */
export function refusedParameter(error: WireError): string | undefined {
  if (error.status !== 400 && error.status !== 422) return undefined;
  const text = `${error.code ?? ''} ${error.message}`;
  if (!REFUSAL.test(text)) return undefined;
  return OPTIONAL.find((name) => error.param === name || new RegExp(`\\b${name}\\b`).test(error.message));
}
