import type { ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import type * as z from 'zod';

/** A call under way. */
export interface Call {
  /** Raised with an AppError when the client cancels or goes away. */
  signal: AbortSignal;
  /** Tells the client what is being done, if it wants to hear it. */
  report(message: string): void;
}

/** A tool of the server. What `run` returns is structured content; what it throws becomes an error result. */
export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  description: string;
  input: Input;
  output: Output;
  annotations: ToolAnnotations;
  run(args: z.output<Input>, call: Call): Promise<z.input<Output>>;
}
