import { oneLine } from '../text/visible-text.ts';
import type { Difference } from './diff-values.ts';
import type { TapeJson } from './tape-format.ts';

/** A setting that is another than when the tape was recorded. */
export interface SettingChange {
  name: string;
  before: TapeJson | undefined;
  after: TapeJson | undefined;
}

/** What is known of a replay besides its requests: what may have made them others. */
export interface Circumstances {
  changed: readonly SettingChange[];
  /** Whether the collection holds other documents now; null where that is not known. */
  collectionChanged: boolean | null;
}

export const NOTHING_KNOWN: Circumstances = { changed: [], collectionChanged: null };

interface Kind {
  /** The fields that it shows in. */
  fields: RegExp;
  /** What it most likely comes from if nothing is known of a setting. */
  otherwise: string;
  /** The settings that it may come from. */
  settings: readonly string[];
}

const SEARCHING = [
  'topK',
  'scoreThreshold',
  'mode',
  'rerank',
  'rerankModel',
  'embedder',
  'embeddingModel',
  'embeddingDimensions',
  'toolName',
  'contextWindow',
  'maxTokens',
  'collection',
  'store',
  'qdrantUrl',
  'payloadMap',
];

/** What a difference in a field most likely comes from. The first that applies. */
const KINDS: readonly Kind[] = [
  { fields: /^model$/, otherwise: 'the model changed', settings: ['model', 'provider'] },
  {
    fields: /^(?:tools|tool_choice|functions)\b/,
    otherwise: 'the tools or their schema changed',
    settings: ['policy', 'toolName'],
  },
  {
    fields: /^(?:instructions|messages\[0\])/,
    otherwise: 'the system prompt changed',
    settings: ['systemPrompt', 'policy', 'toolName'],
  },
  {
    fields: /^(?:temperature|max_tokens|max_completion_tokens|max_output_tokens|stream|top_p)\b/,
    otherwise: 'the settings of the model changed',
    settings: ['temperature', 'maxTokens', 'baseUrl', 'provider'],
  },
  {
    fields: /\.output$|tool|results|documents\b|^retrieved\b/,
    otherwise: 'different chunks came back from the search: the collection or its ranking changed',
    settings: SEARCHING,
  },
  {
    fields: /^(?:messages|input|query|texts|prompt)\b/,
    otherwise: 'the question, the prompt or the conversation before it changed',
    settings: ['policy', 'systemPrompt', 'maxHistory', 'maxSteps', 'maxTurns', ...SEARCHING],
  },
  {
    fields: /vector|filter|limit|prefetch|points/,
    otherwise: 'the search or what is stored changed',
    settings: SEARCHING,
  },
];

/** Settings that decide which services are asked, and where. */
const SERVICES = ['model', 'provider', 'baseUrl', 'api', 'policy', ...SEARCHING];

const CARRIED_OTHERWISE =
  'this version of the program carries on what the answers of earlier turns cited; the one that recorded it carried more';

/** Versions up to 0.2 had the last turn's results whole. */
function isCarriedOtherwise({ before, after }: Difference): boolean {
  const [was, is] = [before, after].map((value) => JSON.stringify(value ?? null).includes('not_cited'));
  return is === true && was === false;
}

/** Why a request is asked otherwise than on the tape. */
export function whyAsked(differences: readonly Difference[], known: Circumstances): string {
  if (differences.length === 0) return 'it was recorded less often than it is asked now';
  if (differences.some(isCarriedOtherwise)) return CARRIED_OTHERWISE;
  const kind = KINDS.find(({ fields }) => differences.some((each) => fields.test(hintPath(each))));
  return bySettings(known, kind?.settings) ?? byCollection(kind, known) ?? 'the request changed';
}

/** Why a request goes where none on the tape goes. */
export function whyElsewhere(isKnownService: boolean, known: Circumstances): string {
  const otherwise = isKnownService
    ? 'the tape has nothing from this place: other calls are made now than when it was recorded'
    : 'the tape has nothing from this service: another model, store or embedder is configured now';
  return bySettings(known, SERVICES) ?? otherwise;
}

/** Why a turn came to something else though every request was on the tape. */
export function whyCameOtherwise(differences: readonly Difference[], known: Circumstances): string {
  const paths = differences.map(({ path }) => path.replace(/^turn \d+\.?/, ''));
  const searched = KINDS.find(({ settings }) => settings === SEARCHING);
  if (paths.some((path) => /^(?:retriev|search)/.test(path))) {
    return bySettings(known, SEARCHING) ?? bySettings(known) ?? byCollection(searched, known) ?? '';
  }
  return (
    bySettings(known) ??
    (known.collectionChanged === true ? 'the collection holds other documents now' : null) ??
    'this version of the program answers or checks otherwise than the one that recorded it'
  );
}

/** Null if none of these settings, or none at all, is another one. */
function bySettings({ changed }: Circumstances, among?: readonly string[]): string | null {
  const blamed = changed.filter(({ name }) => among === undefined || among.includes(name));
  return blamed.length === 0 ? null : blamed.map(inWords).join(', ');
}

function byCollection(kind: Kind | undefined, { collectionChanged }: Circumstances): string | null {
  if (kind?.settings !== SEARCHING || collectionChanged === null) return kind?.otherwise ?? null;
  return collectionChanged
    ? 'different chunks came back from the search: the collection holds other documents now'
    : 'different chunks came back from the search, of the same documents: how they are cut or ranked changed';
}

function inWords({ name, before, after }: SettingChange): string {
  const shown = [before, after].map((value) => (value === undefined ? 'not set' : JSON.stringify(value)));
  const [was = '', is = ''] = shown;
  if (was.length + is.length > 80) return `${oneLine(name, 40)} is another one now`;
  return `${oneLine(name, 40)} is ${oneLine(is, 80)} now, and was ${oneLine(was, 80)}`;
}

/** A message that holds the results of a tool is told from one that a person wrote by what it holds. */
function hintPath({ path, before, after }: Difference): string {
  const holdsResults = [before, after].some(
    (value) => typeof value === 'string' && /"results"\s*:/.test(value),
  );
  return holdsResults || /\.results\[/.test(path) ? `${path}.results` : path;
}
