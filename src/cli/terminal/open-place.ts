import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { terminalPrograms } from '../../config/terminal-programs.ts';
import type { Location } from '../../domain/location.ts';
import { describeLocation, linkTo } from '../../domain/show-location.ts';
import { AppError } from '../../faults/app-error.ts';
import { fileIsGone } from '../../retrieval/chunk-changes.ts';
import { type Streams, withTerminal } from './terminal.ts';

/** Where evidence is: its address on the web, or the file that this machine read it from. */
export interface Place {
  url: string;
  uri?: string | undefined;
  location?: Location | undefined;
}

/** How each editor is told the line to go to. */
const editors: readonly [RegExp, (file: string, line: number) => string[]][] = [
  [/^(code|codium|cursor|windsurf)(-insiders)?$/, (file, line) => ['--goto', `${file}:${line}`]],
  [/^(subl|zed|hx|helix|lapce)$/, (file, line) => [`${file}:${line}`]],
  [/^(idea|pycharm|webstorm|goland|clion|rider)$/, (file, line) => ['--line', String(line), file]],
  [/^(kate|kwrite)$/, (file, line) => ['--line', String(line), file]],
  [
    /^(vi|vim|nvim|gvim|nano|pico|emacs|emacsclient|micro|kak|joe|jed|mg|ne|less|more)$/,
    (file, line) => [`+${line}`, file],
  ],
];

/** The program and its arguments that show a place, as the person has chosen their programs. */
export function openerOf(
  { url, uri, location }: Place,
  { editor, browser }: Pick<ReturnType<typeof terminalPrograms>, 'editor' | 'browser'>,
  platform: NodeJS.Platform = process.platform,
): string[] {
  const system =
    platform === 'darwin' ? ['open'] : platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open'];
  if (/^https?:/i.test(url)) return [...(browser ?? system), linkTo(url, location)];
  if (uri === undefined || !uri.startsWith('file:')) {
    throw new AppError('invalid_input', `This machine does not know where ${url} is.`, {
      hint: 'It was indexed elsewhere: ingest it here, or open it by hand.',
    });
  }
  const file = fileURLToPath(uri);
  if (location?.unit === 'page') {
    // Only browsers are known to go to a page.
    return browser === undefined ? [...system, file] : [...browser, linkTo(uri, location)];
  }
  const [program, ...rest] = editor ?? [];
  if (program === undefined) return [...system, file];
  const name = basename(program).replace(/\.exe$/i, '');
  const known = location?.unit === 'line' ? editors.find(([names]) => names.test(name)) : undefined;
  return [program, ...rest, ...(known === undefined ? [file] : known[1](file, location?.from ?? 1))];
}

/** Opens it, and waits where the program has the terminal. Throws `invalid_input` if there is no program for it. */
export async function openPlace(place: Place, streams: Streams): Promise<void> {
  if (fileIsGone(place)) {
    throw new AppError('invalid_input', `${fileOf(place)} is gone.`, {
      hint: 'The collection still has its text, until it is ingested with --prune.',
    });
  }
  const programs = terminalPrograms();
  const [program = '', ...args] = openerOf(place, programs);
  const isChosen = [programs.editor, programs.browser].some((chosen) => chosen?.[0] === program);
  const code = await withTerminal(streams.stdin, () => run(program, args, isChosen));
  if (code === 0) return;
  const isOnWeb = /^https?:/i.test(place.url);
  const where = isOnWeb ? linkTo(place.url, place.location) : fileOf(place);
  const variable = isOnWeb || place.location?.unit === 'page' ? 'BROWSER' : 'EDITOR';
  const message = isChosen
    ? `${program} could not open it.`
    : `There is no program to open it: $${variable} is not set.`;
  throw new AppError('invalid_input', message, {
    hint:
      `It is ${where}${place.location ? `, ${describeLocation(place.location)}` : ''}. ` +
      `Set what opens it, for example: export ${variable}=${variable === 'EDITOR' ? 'nano' : 'firefox'}`,
  });
}

function fileOf({ url, uri }: Place): string {
  return uri?.startsWith('file:') ? fileURLToPath(uri) : url;
}

/**
 * Its exit code; another than 0 too if it cannot be started. What the system's own opener has to complain of, all the
 * programs that it looked for in vain, helps nobody.
 */
function run(program: string, args: readonly string[], isChosen: boolean): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['inherit', 'inherit', isChosen ? 'inherit' : 'ignore'] });
    child.on('error', () => resolve(127));
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
