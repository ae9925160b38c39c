declare const CITELOOP_VERSION: string | undefined;

/** The version of the package; set when it is bundled. */
export const version: string = typeof CITELOOP_VERSION === 'undefined' ? '0.0.0-source' : CITELOOP_VERSION;
