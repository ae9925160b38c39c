import { XMLParser } from 'fast-xml-parser';
import { unzipSync, zipSync } from 'fflate';
import { AppError } from '../../../faults/app-error.ts';
import { decodeText } from '../decode-text.ts';

/** What the wanted parts of an archive may take up together once they are unpacked. */
const MAX_UNPACKED = 128 * 1024 * 1024;
const MAX_PARTS = 20_000;

/** Files by their path in an archive. */
export type Archive = Record<string, Uint8Array>;

/**
 * Unpacks the wanted files of a ZIP archive, which Word, Excel and EPUB documents are. No more is unpacked of a
 * file than the archive says it has, so the sum of what it says is the bound. Throws for what is no archive.
 */
export function openArchive(bytes: Uint8Array, name: string, wants: (path: string) => boolean): Archive {
  if (bytes[0] === 0xd0 && bytes[1] === 0xcf) {
    throw new AppError('invalid_input', `${name} is protected by a password, or in an old binary format`, {
      hint: 'Save a copy without a password and in a format of today (.docx, .xlsx).',
    });
  }
  let size = 0;
  let parts = 0;
  return unzipSync(bytes, {
    filter(file) {
      if (!wants(file.name)) return false;
      size += file.originalSize;
      parts += 1;
      if (size > MAX_UNPACKED || parts > MAX_PARTS) throw tooLarge(name);
      return true;
    },
  });
}

/** The same files in an archive that holds nothing else and unpacks to what it says, for a library to open. */
export function packPlainly(archive: Archive): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(zipSync(archive, { level: 0 }));
}

function tooLarge(name: string): AppError {
  return new AppError('invalid_input', `${name} unpacks to more than ${MAX_UNPACKED / 1024 / 1024} MB`, {
    hint: 'Split it into smaller documents, or leave it out.',
  });
}

/** An element: its attributes as `@name`, its text as `#text`, and its children by name, always as lists. */
export type Element = { [name: string]: unknown };

/** Parses a small XML file without the prefixes of its names. Throws for a document type definition, which entities that expand without end would need. */
export function parseXml(bytes: Uint8Array, name: string): Element {
  const source = decodeText(bytes, name);
  if (/<!DOCTYPE/i.test(source)) throw new Error('it has a document type definition');
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    alwaysCreateTextNode: true,
    parseTagValue: false,
    parseAttributeValue: false,
    removeNSPrefix: true,
    htmlEntities: true,
    isArray: (_name, _path, _isLeaf, isAttribute) => !isAttribute,
  });
  return toElement(parser.parse(source, true));
}

export function children(parent: Element | undefined, name: string): Element[] {
  const found = parent?.[name];
  return Array.isArray(found) ? found.map(toElement) : [];
}

export function attribute(element: Element | undefined, name: string): string {
  const value = element?.[`@${name}`];
  return typeof value === 'string' ? value : '';
}

/** The text of the first child of that name, on one line. */
export function textOf(parent: Element | undefined, name: string): string {
  const text = children(parent, name)[0]?.['#text'];
  return typeof text === 'string' ? text.replace(/\s+/g, ' ').trim() : '';
}

function toElement(value: unknown): Element {
  return typeof value === 'object' && value !== null ? { ...value } : { '#text': value };
}
