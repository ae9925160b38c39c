import { defineConfig, type UserConfig } from 'vite';

/** The two pages, each built by its name: `vite build --mode chat`. Both are prebuilt into dist. */
const pages: Record<string, UserConfig> = {
  /** The page of `citeloop serve`, served with a policy that allows nothing from elsewhere. */
  chat: {
    root: 'src/web/chat',
    base: './',
    build: {
      outDir: '../../../dist/page',
      emptyOutDir: true,
      modulePreload: { polyfill: false },
      // Nothing inside the HTML or the CSS: the policy would not run it.
      assetsInlineLimit: 0,
    },
  },
  /** The page of `--html`: one script and one stylesheet, which every report carries inside it. */
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
