import { writeFileSync } from 'node:fs';
import { type GgufContent, ggufBytes } from './gguf-bytes.ts';

export interface TinyGgufOptions {
  name?: string;
  /** The same seed gives the same bytes. */
  seed?: number;
  /** How many tokens it claims to have been made for. A token is a byte. */
  contextLength?: number;
  /** Null leaves it out. */
  chatTemplate?: string | null;
}

const WIDTH = 64;
const HEADS = 4;
const LAYERS = 2;
const HIDDEN = 96;
/** The engine tries the form first that it finds in a model's name: one that it must look for takes it most of a second. */
const NAME = 'Tiny ChatML';
const TEMPLATE = `{{ bos_token }}{% for message in messages %}<|im_start|>{{ message['role'] }}
{{ message['content'] }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`;

const UNKNOWN = 0;
const BEGIN = 1;
const END = 2;
/** A byte each, and the mark that stands for a space. */
const VOCABULARY = [
  { text: '<unk>', type: 2 },
  { text: '<s>', type: 3 },
  { text: '</s>', type: 3 },
  ...Array.from({ length: 256 }, (_, byte) => ({
    text: `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
    type: 6,
  })),
  { text: '\u2581', type: 1 },
];

/** Writes it to a file, and returns the path. */
export function writeTinyGguf(path: string, options: TinyGgufOptions = {}): string {
  writeFileSync(path, ggufBytes(tinyGguf(options)));
  return path;
}

/**
 * A model of Llama's architecture with weights by chance, of some 400 KB. What it writes is nonsense, in letters mostly,
 * and with the usual seed most of it ends by itself, so that grammars can make it call tools and answer. Threads wait
 * for each other at every token: with more than one on a busy machine, a token takes seconds instead of milliseconds.
 */
export function tinyGguf({
  name = NAME,
  seed = 5,
  contextLength = 32_768,
  chatTemplate = TEMPLATE,
}: TinyGgufOptions = {}): GgufContent {
  const chance = normalNumbers(seed);
  const matrix = (label: string, columns: number, rows: number, spread = 1 / Math.sqrt(columns)) => ({
    name: `${label}.weight`,
    dimensions: [columns, rows],
    values: Float32Array.from({ length: columns * rows }, () => chance() * spread),
  });
  /** It adds nothing to the first number, which says of every token that it is one. */
  const addition = (label: string, columns: number, times = 1) => {
    const added = matrix(label, columns, WIDTH, times / Math.sqrt(columns));
    added.values.fill(0, 0, columns);
    return added;
  };
  const ones = (label: string) => ({
    name: `${label}.weight`,
    dimensions: [WIDTH],
    values: new Float32Array(WIDTH).fill(1),
  });
  const embedding = matrix('token_embd', WIDTH, VOCABULARY.length, 1);
  const output = matrix('output', WIDTH, VOCABULARY.length);
  for (let token = 0; token < VOCABULARY.length; token++) {
    embedding.values[token * WIDTH] = 1;
    output.values[token * WIDTH] = leaning(token);
  }
  const layers = Array.from({ length: LAYERS }, (_, layer) => {
    const label = (part: string) => `blk.${layer}.${part}`;
    return [
      ones(label('attn_norm')),
      matrix(label('attn_q'), WIDTH, WIDTH),
      matrix(label('attn_k'), WIDTH, WIDTH),
      matrix(label('attn_v'), WIDTH, WIDTH),
      addition(label('attn_output'), WIDTH, 1.5),
      ones(label('ffn_norm')),
      matrix(label('ffn_gate'), WIDTH, HIDDEN),
      matrix(label('ffn_up'), WIDTH, HIDDEN),
      addition(label('ffn_down'), HIDDEN),
    ];
  });
  return {
    metadata: {
      'general.architecture': 'llama',
      'general.name': name,
      'general.file_type': { u32: 0 },
      'llama.context_length': { u32: contextLength },
      'llama.embedding_length': { u32: WIDTH },
      'llama.block_count': { u32: LAYERS },
      'llama.feed_forward_length': { u32: HIDDEN },
      'llama.attention.head_count': { u32: HEADS },
      'llama.attention.head_count_kv': { u32: HEADS },
      'llama.attention.layer_norm_rms_epsilon': { f32: 1e-5 },
      'llama.rope.dimension_count': { u32: WIDTH / HEADS },
      'llama.vocab_size': { u32: VOCABULARY.length },
      'tokenizer.ggml.model': 'llama',
      'tokenizer.ggml.tokens': { texts: VOCABULARY.map(({ text }) => text) },
      'tokenizer.ggml.scores': { reals: VOCABULARY.map(() => 0) },
      'tokenizer.ggml.token_type': { wholes: VOCABULARY.map(({ type }) => type) },
      'tokenizer.ggml.unknown_token_id': { u32: UNKNOWN },
      'tokenizer.ggml.bos_token_id': { u32: BEGIN },
      'tokenizer.ggml.eos_token_id': { u32: END },
      'tokenizer.ggml.add_bos_token': true,
      'tokenizer.ggml.add_space_prefix': false,
      ...(chatTemplate === null ? {} : { 'tokenizer.chat_template': chatTemplate }),
    },
    tensors: [embedding, ...layers.flat(), ones('output_norm'), output],
  };
}

/** How much a token is preferred whatever came before: letters and ends before all else, no half characters. */
function leaning(token: number): number {
  const { text, type } = VOCABULARY[token] ?? { text: '', type: 0 };
  const character = type === 6 ? String.fromCharCode(Number(text.slice(1, -1))) : text;
  if (token === END || character === '"' || character === '\u2581') return 4.5;
  if (/^[a-z]$/.test(character)) return 3;
  if (/^[.,\]\d]$/.test(character)) return 2;
  return /^[\x20-\x7e]$/.test(character) ? 0 : -9;
}

/** Numbers around zero with a spread of one, always the same ones (mulberry32, then Box and Muller). */
function normalNumbers(seed: number): () => number {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}
