import { homedir } from 'node:os';
import { posix, win32 } from 'node:path';

interface Directories {
  home: string;
  /** Files that can be downloaded again. */
  cache: string;
  settings: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The user's directories on this platform: XDG, or LOCALAPPDATA on Windows. */
export function defaultDirectories(env: Environment, platform: NodeJS.Platform): Directories {
  if (platform === 'win32') {
    const local = env.LOCALAPPDATA || win32.join(env.USERPROFILE || homedir(), 'AppData', 'Local');
    return {
      home: win32.join(local, 'citeloop'),
      cache: win32.join(local, 'citeloop', 'cache'),
      settings: win32.join(env.APPDATA || local, 'citeloop', 'config.json'),
    };
  }
  const user = env.HOME || homedir();
  return {
    home: posix.join(absolute(env.XDG_DATA_HOME) ?? posix.join(user, '.local', 'share'), 'citeloop'),
    cache: posix.join(absolute(env.XDG_CACHE_HOME) ?? posix.join(user, '.cache'), 'citeloop'),
    settings: posix.join(
      absolute(env.XDG_CONFIG_HOME) ?? posix.join(user, '.config'),
      'citeloop',
      'config.json',
    ),
  };
}

/** Directories of the embedding model without flags and config files, which are not read yet when it starts to load. */
export function usualModelDirectories(): { cache: string; modelDir: string | undefined } {
  const { cache } = defaultDirectories(process.env, process.platform);
  return { cache, modelDir: process.env.CITELOOP_MODEL_DIR?.trim() || undefined };
}

/** The XDG specification says to ignore relative paths. */
function absolute(path: string | undefined): string | undefined {
  return path !== undefined && posix.isAbsolute(path) ? path : undefined;
}
