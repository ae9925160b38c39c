import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { sessionTitle } from '../../domain/conversation-session.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { renderTranscript } from '../terminal/render-session.ts';
import type { Conversation } from './conversation.ts';

/** Writes the conversation to a file and returns its path. A file of somebody else's is never overwritten. */
export async function saveTranscript(conversation: Conversation, file: string): Promise<string> {
  const { session, sessions, savedFiles } = conversation;
  const id = session().id;
  const name = file === '' ? `citeloop-${id.slice(0, 8)}.md` : file;
  const path = name.startsWith('~/') ? join(homedir(), name.slice(2)) : resolve(name);
  const turns = await Array.fromAsync(sessions().turns(id));
  const [first] = turns;
  if (first === undefined) throw new AppError('invalid_input', 'There is nothing to save yet.');
  const text = path.endsWith('.json')
    ? `${JSON.stringify({ session: session().snapshot(), turns }, null, 2)}\n`
    : renderTranscript(sessionTitle(first.turn.userQuery), turns);
  try {
    await writeFile(path, text, { flag: savedFiles.has(path) ? 'w' : 'wx' });
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    throw new AppError(
      'invalid_input',
      exists ? `${path} exists already.` : `${path} cannot be written: ${messageOf(error)}.`,
      { hint: 'Give another file: /save <file>', cause: error },
    );
  }
  savedFiles.add(path);
  return path;
}
