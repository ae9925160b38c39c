import { XMLParser } from 'fast-xml-parser';
import { decodeText } from './decode-text.ts';

/** Attributes as `@name`, text as `#text`, and lists of child elements by name. */
export type XmlElement = { [name: string]: unknown };

/** Parses XML without namespace prefixes. Throws for a DTD, which could define endlessly expanding entities. */
export function parseXml(bytes: Uint8Array, name: string): XmlElement {
  const source = decodeText(bytes, name);
  if (/<!DOCTYPE/i.test(source)) throw new Error('it has a DTD');
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    alwaysCreateTextNode: true,
    parseTagValue: false,
    parseAttributeValue: false,
    removeNSPrefix: true,
    htmlEntities: true,
    processEntities: { enabled: true, maxExpandedLength: Number.POSITIVE_INFINITY },
    isArray: (_name, _path, _isLeaf, isAttribute) => !isAttribute,
  });
  return toElement(parser.parse(source, true));
}

export function childElements(parent: XmlElement | undefined, name: string): XmlElement[] {
  const found = parent?.[name];
  return Array.isArray(found) ? found.map(toElement) : [];
}

export function attributeValue(element: XmlElement | undefined, name: string): string {
  const value = element?.[`@${name}`];
  return typeof value === 'string' ? value : '';
}

/** The text of the first child with a name, on one line. */
export function childText(parent: XmlElement | undefined, name: string): string {
  const text = childElements(parent, name)[0]?.['#text'];
  return typeof text === 'string' ? text.replace(/\s+/g, ' ').trim() : '';
}

/** The texts of child elements that are not empty, by the name of the field. */
export function readTextFields(
  parent: XmlElement | undefined,
  elementByField: Record<string, string>,
): Record<string, string> {
  const names = Object.entries(elementByField);
  const fields = names.map(([field, element]) => [field, childText(parent, element)]);
  return Object.fromEntries(fields.filter(([, text]) => text !== ''));
}

function toElement(value: unknown): XmlElement {
  return typeof value === 'object' && value !== null ? { ...value } : { '#text': value };
}
