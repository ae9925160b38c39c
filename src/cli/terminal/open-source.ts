import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readTerminalPrograms } from '../../config/terminal-programs.ts';
import { formatLocation, isWebUrl, linkToLocation } from '../../domain/format-location.ts';
import { AppError } from '../../faults/app-error.ts';
import { isFileDeleted } from '../../retrieval/deleted-files.ts';
import type { SourcePlace } from './format-source.ts';
import { type ProcessStreams, releaseTerminal } from './terminal.ts';

/** The arguments with which editors open a file at a line. */
const editors: readonly [RegExp, (file: string, line: number) => string[]][] = [
  [/^(code|codium|cursor|windsurf)(-insiders)?$/, (file, line) => ['--goto', `${file}:${line}`]],
  [/^(subl|zed|hx|helix|lapce)$/, (file, line) => [`${file}:${line}`]],
  [/^(idea|pycharm|webstorm|goland|clion|rider|kate|kwrite)$/, (file, line) => ['--line', `${line}`, file]],
  [
    /^(n?vim?|gvim|nano|pico|emacs(client)?|micro|kak|joe|jed|mg|ne|less|more)$/,
    (file, line) => [`+${line}`, file],
  ],
];

/** Without a shell, which would run what follows a "&" in a URL. */
const SYSTEM_OPENERS: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** The program that opens a place, and its arguments. Throws `invalid_input` if the file is not known here. */
export function chooseOpener(
  { url, uri, location }: SourcePlace,
  { editor, browser }: Pick<ReturnType<typeof readTerminalPrograms>, 'editor' | 'browser'>,
  platform: NodeJS.Platform = process.platform,
): string[] {
  const system = SYSTEM_OPENERS[platform] ?? ['xdg-open'];
  if (isWebUrl(url)) return [...(browser ?? system), linkToLocation(url, location)];
  if (!uri?.startsWith('file:')) {
    throw new AppError('invalid_input', `The file of ${url} is not on this machine.`, {
      hint: 'It was indexed elsewhere. Ingest it here to open it.',
    });
  }
  const file = fileURLToPath(uri);
  // Only browsers can open a PDF at a page.
  if (location?.unit === 'page')
    return browser ? [...browser, linkToLocation(uri, location)] : [...system, file];
  const [program, ...rest] = editor ?? system;
  const name = basename(program ?? '').replace(/\.exe$/i, '');
  const known = location?.unit === 'line' ? editors.find(([names]) => names.test(name)) : undefined;
  return [program ?? '', ...rest, ...(known?.[1](file, location?.from ?? 1) ?? [file])];
}

/** Opens a place and waits for the program to exit. Throws `invalid_input` if it cannot be opened. */
export async function openSource(place: SourcePlace, streams: ProcessStreams): Promise<void> {
  if (isFileDeleted(place)) {
    throw new AppError('invalid_input', `${fileOf(place)} no longer exists.`, {
      hint: 'Its text stays in the collection until you ingest with --prune.',
    });
  }
  const programs = readTerminalPrograms();
  const [program = '', ...args] = chooseOpener(place, programs);
  const isChosen = [programs.editor, programs.browser].some((chosen) => chosen?.[0] === program);
  const code = await releaseTerminal(streams.stdin, () => run(program, args, isChosen));
  if (code === 0) return;
  // A machine without a desktop: the pager shows the file at the line.
  if (!isChosen && streams.stdin.isTTY === true && place.location?.unit === 'line' && !isWebUrl(place.url)) {
    const [pager = '', ...rest] = programs.pager;
    const start = `+${place.location.from}`;
    if ((await releaseTerminal(streams.stdin, () => run(pager, [...rest, start, fileOf(place)], true))) === 0)
      return;
  }
  const variable = isWebUrl(place.url) || place.location?.unit === 'page' ? 'BROWSER' : 'EDITOR';
  const message = isChosen
    ? `${program} could not open it.`
    : `No program to open it: $${variable} is not set.`;
  const where = isWebUrl(place.url) ? linkToLocation(place.url, place.location) : fileOf(place);
  const line = place.location ? `, ${formatLocation(place.location)}` : '';
  throw new AppError('invalid_input', message, { hint: `Set ${variable}, or open ${where}${line}.` });
}

function fileOf({ url, uri }: SourcePlace): string {
  return uri?.startsWith('file:') ? fileURLToPath(uri) : url;
}

/** The exit code, or 127 if the program cannot be started. Errors of the system's opener are long and not shown. */
function run(program: string, args: readonly string[], isChosen: boolean): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['inherit', 'inherit', isChosen ? 'inherit' : 'ignore'] });
    child.on('error', () => resolve(127));
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
