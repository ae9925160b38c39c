import { AppError } from '../../faults/app-error.ts';
import { findEvidence } from '../terminal/find-evidence.ts';
import { openPlace } from '../terminal/open-place.ts';
import { readableUrl } from '../terminal/render-answer.ts';
import { renderLedger } from '../terminal/render-ledger.ts';
import { renderSources } from '../terminal/render-retrieval.ts';
import { renderSource } from '../terminal/render-source.ts';
import { renderText } from '../terminal/wrapping.ts';
import type { SlashCommand } from './slash-command.ts';

/** What an answer rests on: found, cited, opened, explained. */
export const evidenceCommands = {
  sources: {
    usage: 'sources',
    describe: 'What the last search found, with excerpts',
    run(conversation, _, terminal) {
      const turn = conversation.lastSearched();
      if (turn === null) terminal.write('Nothing has been searched yet.\n');
      else renderSources(terminal, turn);
    },
  },
  source: {
    usage: 'source <n>',
    describe: 'A source in its section, with what the answer rests on',
    async run(conversation, argument, terminal) {
      const evidence = findEvidence(await conversation.turns(), numberIn(argument, 'source'));
      const around = await conversation.passagesAround(evidence.citation.chunkId ?? '');
      renderSource(terminal, evidence, around);
    },
  },
  open: {
    usage: 'open <n>',
    describe: 'Open a source in $EDITOR, or where it is on the web',
    async run(conversation, argument, terminal, streams) {
      const { citation, chunk } = findEvidence(await conversation.turns(), numberIn(argument, 'open'));
      const { url, location } = citation;
      await openPlace({ url, uri: chunk?.uri, location }, streams);
      renderText(terminal, `Opened ${readableUrl(url)}`, { style: 'dim' });
    },
  },
  why: {
    usage: 'why',
    describe: 'What was searched, found, cited, and why not',
    run({ session }, _, terminal) {
      const turn = session().lastTurn();
      if (turn === null) terminal.write('There is no answer yet to explain.\n');
      else renderLedger(terminal, turn);
    },
  },
} satisfies Record<string, SlashCommand>;

function numberIn(argument: string, command: string): string {
  if (argument !== '') return argument;
  throw new AppError('invalid_input', `Say which source: /${command} <n>.`, {
    hint: 'Its number stands in the answer, as [2].',
  });
}
