/** Asks a model for the query behind a follow-up. The offline model knows it by this text. */
export const REWRITE_INSTRUCTIONS =
  "Rewrite the user's last message as one search query that can be understood without the conversation. " +
  'Reply with the query alone. If it stands on its own already, repeat it unchanged.';
