import { homedir } from 'node:os';
import { join as nativeJoin, posix, win32 } from 'node:path';

/**
 * The user's directories on this platform, and the files of the settings and of trust: XDG, or LOCALAPPDATA on Windows.
 * Both files are in CITELOOP_HOME if that is an absolute path; a relative one could be a directory of any project.
 */
export function defaultDirectories(env: Readonly<NodeJS.Dict<string>>, platform: NodeJS.Platform) {
  const { join, isAbsolute } = platform === 'win32' ? win32 : posix;
  const own = env.CITELOOP_HOME?.trim() ?? '';
  const inDirectory = (usual: string) => {
    const directory = isAbsolute(own) ? own : usual;
    return { settings: join(directory, 'config.json'), trust: join(directory, 'trust.json') };
  };
  if (platform === 'win32') {
    const local = env.LOCALAPPDATA || join(env.USERPROFILE || homedir(), 'AppData', 'Local');
    return {
      home: join(local, 'citeloop'),
      cache: join(local, 'citeloop', 'cache'),
      ...inDirectory(join(env.APPDATA || local, 'citeloop')),
    };
  }
  const user = env.HOME || homedir();
  // The XDG specification says to ignore relative paths.
  const directory = (path: string | undefined, usual: string) =>
    join(path && isAbsolute(path) ? path : join(user, usual), 'citeloop');
  return {
    home: directory(env.XDG_DATA_HOME, '.local/share'),
    cache: directory(env.XDG_CACHE_HOME, '.cache'),
    ...inDirectory(directory(env.XDG_CONFIG_HOME, '.config')),
  };
}

/** The files of an encoder that was added. Twice the name: the inner one identifies it, `encoder.json` is beside. */
export function encoderDirectory(home: string, name: string): string {
  return nativeJoin(home, 'encoders', name, name);
}

/** Directories of the embedding model without flags and config files, which are not read yet when it starts to load. */
export function defaultModelDirectories(): { cache: string; modelDir: string | undefined } {
  const { cache } = defaultDirectories(process.env, process.platform);
  return { cache, modelDir: process.env.CITELOOP_MODEL_DIR?.trim() || undefined };
}
