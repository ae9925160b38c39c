import { homedir } from 'node:os';
import { pathToFileURL } from 'node:url';
import type { TapeExchange } from '../tape-format.ts';

/** Placeholders for directories in file URLs on a tape. The names are part of the tape format. */
const WORKING_DIRECTORY = 'file:///citeloop.here';
const HOME_DIRECTORY = 'file:///citeloop.home';
const OTHER_DIRECTORY = 'file:///citeloop.elsewhere';

const FILE_URL = /file:\/\/\/[^\s"'\\<>]*/g;
const PLACEHOLDER = /file:\/\/\/citeloop\.(?:here|home)(?=\/)/g;

/** Replaces directories of this machine by placeholders. Outside of the working and home directory only file names stay. */
export function hideFilePaths(exchange: TapeExchange): TapeExchange {
  const text = JSON.stringify(exchange);
  if (!text.includes('file:///')) return exchange;
  const directories = [
    [directoryUrl(process.cwd()), WORKING_DIRECTORY],
    [directoryUrl(homedir()), HOME_DIRECTORY],
  ] as const;
  const hidden = text.replace(FILE_URL, (url) => {
    if (url.startsWith('file:///citeloop.')) return url;
    for (const [directory, placeholder] of directories)
      if (url === directory || url.startsWith(`${directory}/`))
        return `${placeholder}${url.slice(directory.length) || '/'}`;
    return `${OTHER_DIRECTORY}/${url.slice(url.replace(/\/$/, '').lastIndexOf('/') + 1)}`;
  });
  return JSON.parse(hidden) as TapeExchange;
}

/** Replaces the placeholders in a response by the directories of this process. */
export function restoreFilePaths(text: string): string {
  if (!text.includes('file:///citeloop.')) return text;
  return text.replace(PLACEHOLDER, (placeholder) =>
    directoryUrl(placeholder === WORKING_DIRECTORY ? process.cwd() : homedir()),
  );
}

function directoryUrl(directory: string): string {
  return pathToFileURL(directory).href.replace(/\/$/, '');
}
