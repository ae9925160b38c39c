import { defineConfig, type UserConfig } from 'vite';

/** Each page is built into dist by its name: `vite build --mode chat`. */
const pages: Record<string, UserConfig> = {
  /** The page of `citeloop serve`. */
  chat: {
    root: 'src/web/chat',
    base: './',
    build: {
      outDir: '../../../dist/page',
      emptyOutDir: true,
      modulePreload: { polyfill: false },
      // The content policy of the server blocks inline assets.
      assetsInlineLimit: 0,
    },
  },
  /** The page of `--html`: one script and one stylesheet, which every report contains. */
  report: {
    root: 'src/web/report',
    build: {
      outDir: '../../../dist/report',
      emptyOutDir: true,
      lib: {
        entry: 'main.tsx',
        name: 'report',
        formats: ['iife'],
        fileName: () => 'report.js',
        cssFileName: 'report',
      },
    },
  },
};

export default defineConfig(({ mode }) => ({
  ...pages[mode],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
}));
