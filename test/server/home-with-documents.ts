import { copyHomeWithChapters } from '../support/prepared-home.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** A data directory whose default collection has a part of the sample book. */
export async function homeWithDocuments(): Promise<string> {
  const home = await temporaryDirectory();
  await copyHomeWithChapters(home);
  return home;
}
