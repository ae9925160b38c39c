import { resolveSessionId } from '../../app/sessions.ts';
import { formatLocation } from '../../domain/format-location.ts';
import type { CommonFlags } from '../flags/common-flags.ts';
import { formatUrl } from '../terminal/format-source.ts';
import { openSource } from '../terminal/open-source.ts';
import { findCitedSource } from '../terminal/render-source.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { withSessions } from './sessions.ts';

export interface OpenFlags extends CommonFlags {
  /** yargs fills required arguments first: of two words, this is the session, and `session` is the number. */
  number?: string | undefined;
  session?: string | undefined;
}

export function runOpen(flags: OpenFlags): Promise<void> {
  const { number: first = '', session: second } = flags;
  const [wanted, marker] = second === undefined ? ['last', first] : [first, second];
  return withSessions(flags, async (store) => {
    const id = await resolveSessionId(store, wanted);
    const turns = await Array.fromAsync(store.turns(id), ({ turn }) => turn);
    const { citation, chunk } = findCitedSource(turns, marker);
    const { url, location } = citation;
    const place = { url, uri: chunk?.uri, location };
    if (flags.json) return void process.stdout.write(`${JSON.stringify(place)}\n`);
    const terminal = createTerminal(process.stderr);
    const where = location ? `, ${formatLocation(location)}` : '';
    terminal.write(`${terminal.text(`${formatUrl(url)}${where}`, 'dim')}\n`);
    await openSource(place, process);
  });
}
