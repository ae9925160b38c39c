/**
 * Fields of request bodies that differ from run to run and mean nothing to the service: they do not take part in
 * matching. This list is the only place that names them.
 */
export const VOLATILE_FIELDS: ReadonlySet<string> = new Set([
  // How long a search took; the model sees it inside the results of the search tool.
  'execution_time',
  // Options of OpenAI-compatible services that name a caller or a cache, not a question.
  'prompt_cache_key',
  'safety_identifier',
  // When a collection on a Qdrant server was made and changed, and until when a writer holds it.
  'createdAt',
  'updatedAt',
  'leaseUntil',
]);

/** Parameters of URLs of the same kind. */
export const VOLATILE_PARAMETERS: ReadonlySet<string> = new Set(['timestamp', 'nonce']);
