import type { DocumentSource } from '../../ports/loader.ts';
import { createFileSource, type FileSourceOptions } from '../files/create-file-source.ts';
import type { WebSourceOptions } from '../web/create-web-source.ts';

export interface SourceOptions {
  files: FileSourceOptions;
  web: WebSourceOptions;
}

/** The source that an argument names: a site for an http(s) URL, else files. Throws `invalid_input`. */
export async function createSource(argument: string, options: SourceOptions): Promise<DocumentSource> {
  if (!/^https?:\/\//i.test(argument)) return createFileSource(argument, options.files);
  const { createWebSource } = await import('../web/create-web-source.ts');
  return createWebSource(argument, options.web);
}
