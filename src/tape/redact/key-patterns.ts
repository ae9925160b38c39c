/** Names of fields and parameters whose values are secrets, whoever uses them. */
const NAMES =
  'x[-_]?api[-_]?key|api[-_]?key|apikey|authorization|proxy[-_]authorization|access[-_]token|refresh[-_]token|id[-_]token|client[-_]secret|secret[-_]key|password|passwd|set[-_]cookie|cookie|organization[-_]id|org[-_]id|openai[-_]organization|openai[-_]project';

export const SECRET_FIELD = new RegExp(`^(?:${NAMES})$`, 'i');
/** In URLs short names are in use as well. */
export const SECRET_PARAMETER = new RegExp(`^(?:${NAMES}|key|token|sig|signature|auth)$`, 'i');

/** What looks like a key or the id of an organisation, wherever it stands: the group if there is one, or else all of it. */
export const KEY_PATTERNS: readonly RegExp[] = [
  // OpenAI, Anthropic, OpenRouter, Stripe; then Groq, Hugging Face, GitHub, GitLab; xAI, NVIDIA, Perplexity, Slack.
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{16,}/g,
  /\b(?:gsk|hf|ghp|gho|ghs|glpat|github_pat)[-_][A-Za-z0-9_]{16,}/g,
  /\b(?:xai|nvapi|pplx|xox[abpr])-[A-Za-z0-9_-]{16,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /\borg-[A-Za-z0-9]{16,}\b/g,
  /\bproj_[A-Za-z0-9]{16,}\b/g,
  /\b(?:Bearer|bearer|BEARER|Basic|basic)\s+([A-Za-z0-9._~+/=-]{8,})/g,
  // Fields of JSON inside a text, however often its quotes are escaped.
  new RegExp(`"(?:${NAMES})\\\\*"\\s*:\\s*\\\\*"([^"\\\\]+)`, 'gi'),
  // Parameters inside a text.
  new RegExp(`[?&](?:${NAMES}|key|token|sig|signature)=([^&#\\s"'\\\\]+)`, 'gi'),
  // Who logs in by the address: https://user:password@host
  /\bhttps?:\/\/([^\s/@:"'\\]+:[^\s/@"'\\]+)@/g,
];
