import { unzipSync, zipSync } from 'fflate';
import { AppError } from '../../../faults/app-error.ts';

/** Maximum size of the unpacked files. */
const MAX_UNPACKED_BYTES = 128 * 1024 * 1024;
const MAX_FILES = 20_000;

export type ArchiveFiles = Record<string, Uint8Array>;

/**
 * Unpacks files of a document that is a ZIP archive. fflate unpacks no more bytes of a file than the archive declares, so
 * the declared sizes are checked. Throws if the bytes are not a ZIP archive.
 */
export function openArchive(bytes: Uint8Array, name: string, wants: (path: string) => boolean): ArchiveFiles {
  if (bytes[0] === 0xd0 && bytes[1] === 0xcf) {
    throw new AppError('invalid_input', `${name} has a password or an old binary format`, {
      hint: 'Save a copy as .docx or .xlsx without a password.',
    });
  }
  let size = 0;
  let count = 0;
  return unzipSync(bytes, {
    filter(file) {
      if (!wants(file.name)) return false;
      size += file.originalSize;
      count += 1;
      if (size > MAX_UNPACKED_BYTES || count > MAX_FILES) {
        throw new AppError(
          'invalid_input',
          `${name} unpacks to more than ${MAX_UNPACKED_BYTES / 1024 / 1024} MB`,
          { hint: 'Split it into smaller documents or exclude it.' },
        );
      }
      return true;
    },
  });
}

/** Packs the files again, so that a library reads only these and none larger than declared. */
export function repackArchive(archive: ArchiveFiles): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(zipSync(archive, { level: 0 }));
}

/** Throws if the archive has no such file. */
export function getFile(archive: ArchiveFiles, path: string): Uint8Array {
  const found = archive[path];
  if (found === undefined) throw new Error(`${path || 'the package file'} is missing`);
  return found;
}
