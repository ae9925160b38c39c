import { XMLParser } from 'fast-xml-parser';
import { decodeText } from '../decode-text.ts';

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
