import { expect, test } from 'vitest';
import { defaultDirectories } from '../../src/config/directories.ts';

test('data and cache follow the XDG variables', () => {
  expect(
    defaultDirectories(
      { XDG_DATA_HOME: '/data', XDG_CACHE_HOME: '/cache', XDG_CONFIG_HOME: '/settings' },
      'linux',
    ),
  ).toEqual({
    home: '/data/citeloop',
    cache: '/cache/citeloop',
    settings: '/settings/citeloop/config.json',
    trust: '/settings/citeloop/trust.json',
  });
});

test('uses the defaults below HOME without XDG variables or with relative ones', () => {
  const expected = {
    home: '/home/ada/.local/share/citeloop',
    cache: '/home/ada/.cache/citeloop',
    settings: '/home/ada/.config/citeloop/config.json',
    trust: '/home/ada/.config/citeloop/trust.json',
  };
  expect(defaultDirectories({ HOME: '/home/ada' }, 'linux')).toEqual(expected);
  expect(
    defaultDirectories({ HOME: '/home/ada', XDG_DATA_HOME: 'data', XDG_CACHE_HOME: '' }, 'darwin'),
  ).toEqual(expected);
});

test('uses LOCALAPPDATA on Windows', () => {
  expect(defaultDirectories({ LOCALAPPDATA: 'C:\\Users\\ada\\AppData\\Local' }, 'win32')).toEqual({
    home: 'C:\\Users\\ada\\AppData\\Local\\citeloop',
    cache: 'C:\\Users\\ada\\AppData\\Local\\citeloop\\cache',
    settings: 'C:\\Users\\ada\\AppData\\Local\\citeloop\\config.json',
    trust: 'C:\\Users\\ada\\AppData\\Local\\citeloop\\trust.json',
  });
  expect(defaultDirectories({ USERPROFILE: 'C:\\Users\\ada' }, 'win32').home).toBe(
    'C:\\Users\\ada\\AppData\\Local\\citeloop',
  );
});

test('settings and trust are in an absolute CITELOOP_HOME, never in a relative one', () => {
  const of = (CITELOOP_HOME: string) => defaultDirectories({ HOME: '/home/ada', CITELOOP_HOME }, 'linux');
  expect(of('/srv/data')).toMatchObject({ settings: '/srv/data/config.json', trust: '/srv/data/trust.json' });
  for (const home of ['data', './data', '', ' ']) {
    expect(of(home)).toEqual(defaultDirectories({ HOME: '/home/ada' }, 'linux'));
  }
});
