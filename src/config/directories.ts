import { homedir } from 'node:os';
import { posix, win32 } from 'node:path';

/** The user's directories on this platform and the file of the settings: XDG, or LOCALAPPDATA on Windows. */
export function defaultDirectories(env: Readonly<NodeJS.Dict<string>>, platform: NodeJS.Platform) {
  if (platform === 'win32') {
    const local = env.LOCALAPPDATA || win32.join(env.USERPROFILE || homedir(), 'AppData', 'Local');
    return {
      home: win32.join(local, 'citeloop'),
      cache: win32.join(local, 'citeloop', 'cache'),
      settings: win32.join(env.APPDATA || local, 'citeloop', 'config.json'),
    };
  }
  const user = env.HOME || homedir();
  // The XDG specification says to ignore relative paths.
  const directory = (path: string | undefined, usual: string) =>
    posix.join(path && posix.isAbsolute(path) ? path : posix.join(user, usual), 'citeloop');
  return {
    home: directory(env.XDG_DATA_HOME, '.local/share'),
    cache: directory(env.XDG_CACHE_HOME, '.cache'),
    settings: posix.join(directory(env.XDG_CONFIG_HOME, '.config'), 'config.json'),
  };
}

/** Directories of the embedding model without flags and config files, which are not read yet when it starts to load. */
export function defaultModelDirectories(): { cache: string; modelDir: string | undefined } {
  const { cache } = defaultDirectories(process.env, process.platform);
  return { cache, modelDir: process.env.CITELOOP_MODEL_DIR?.trim() || undefined };
}
