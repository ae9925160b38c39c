/** What the messages of a request are given besides what it says. */
export interface ReadRequestOptions {
  nextId: () => string;
  timestamp: string;
  countTokens?: (text: string) => number;
}
