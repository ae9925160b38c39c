import * as z from 'zod';

/** JSON knows no NaN and no infinity, and neither does zod's number: what is not known is null or "no data". */
export const number = z.number();
export const count = z.int().min(0);
export const interval = z.tuple([number, number]);
export const armName = z.string().min(1);
export const metricId = z.string().min(1);
export const caseId = z.string().min(1);
