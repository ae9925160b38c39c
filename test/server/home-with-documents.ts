import { copyHomeWithChapters } from '../support/copy-home.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';

/** A data directory whose default collection has a part of the sample book. */
export async function homeWithDocuments(): Promise<string> {
  const home = await createTemporaryDirectory();
  await copyHomeWithChapters(home);
  return home;
}
