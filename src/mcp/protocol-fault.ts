/** The protocol's number for it, which the SDK has no name for. */
export const RESOURCE_NOT_FOUND = -32002;

/** A failure that the client gets as an error of the protocol; the SDK's own class writes its code into the text. */
export class ProtocolFault extends Error {
  readonly code: number;
  readonly data: Record<string, unknown> | undefined;

  constructor(code: number, message: string, data?: Record<string, unknown>) {
    super(message);
    this.name = 'ProtocolFault';
    this.code = code;
    this.data = data;
  }
}
