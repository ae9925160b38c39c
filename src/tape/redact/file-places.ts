import { homedir } from 'node:os';
import { pathToFileURL } from 'node:url';
import type { TapeExchange } from '../tape-format.ts';

/** What stands on tapes for the directories of whoever records or replays. */
const HERE = 'file:///citeloop.here';
const HOME = 'file:///citeloop.home';
const ELSEWHERE = 'file:///citeloop.elsewhere';

const FILE = /file:\/\/\/[^\s"'\\<>]*/g;
const PLACEHOLDER = /file:\/\/\/citeloop\.(?:here|home)(?=\/)/g;

/**
 * An exchange that does not tell where this machine keeps its files: addresses below the working directory and the
 * user's own begin with a word for it, of others the last name is left.
 */
export function hideFilePlaces(exchange: TapeExchange): TapeExchange {
  const text = JSON.stringify(exchange);
  if (!text.includes('file:///')) return exchange;
  const directories = [
    [addressOf(process.cwd()), HERE],
    [addressOf(homedir()), HOME],
  ] as const;
  const hidden = text.replace(FILE, (address) => {
    if (address.startsWith('file:///citeloop.')) return address;
    for (const [directory, word] of directories)
      if (address === directory || address.startsWith(`${directory}/`))
        return `${word}${address.slice(directory.length) || '/'}`;
    return `${ELSEWHERE}/${address.slice(address.replace(/\/$/, '').lastIndexOf('/') + 1)}`;
  });
  return JSON.parse(hidden) as TapeExchange;
}

/** A recorded answer with the directories that they are here and now. */
export function withFilePlaces(text: string): string {
  if (!text.includes('file:///citeloop.')) return text;
  return text.replace(PLACEHOLDER, (word) => addressOf(word === HERE ? process.cwd() : homedir()));
}

function addressOf(directory: string): string {
  return pathToFileURL(directory).href.replace(/\/$/, '');
}
