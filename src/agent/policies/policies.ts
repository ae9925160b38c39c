import type { Policy } from '../../domain/agent-config.ts';
import { alwaysPolicy } from './always-policy.ts';
import { firstPolicy } from './first-policy.ts';
import { neverPolicy } from './never-policy.ts';
import type { RetrievalPolicy } from './retrieval-policy.ts';
import { toolPolicy } from './tool-policy.ts';

export const policies: Readonly<Record<Policy, RetrievalPolicy>> = {
  tool: toolPolicy,
  always: alwaysPolicy,
  first: firstPolicy,
  never: neverPolicy,
};
