import type { TapeJson } from '../../tape/tape-format.ts';

/** Flags that say how the run is shown or taped, not what is asked for. */
const NOT_ASKED = new Set([
  'record',
  'replay',
  'redact',
  'onMiss',
  'timing',
  'json',
  'verbose',
  'config',
  '$0',
  '_',
]);

/** The flags of a command as the tape keeps them: each once, under the name that the program uses. */
export function recordedFlags(flags: object): { [name: string]: TapeJson } {
  const asked = Object.entries(flags).filter(
    ([name, value]) => value !== undefined && /^[a-zA-Z]{2,}$/.test(name) && !NOT_ASKED.has(name),
  );
  return JSON.parse(JSON.stringify(Object.fromEntries(asked))) as { [name: string]: TapeJson };
}
