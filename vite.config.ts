import { defineConfig } from 'vite';

/** The page of `citeloop serve`: prebuilt into dist, served with a policy that allows nothing from elsewhere. */
export default defineConfig({
  root: 'src/page',
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../dist/page',
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    // Nothing inside the HTML or the CSS: the policy would not run it.
    assetsInlineLimit: 0,
  },
});
