import fc from 'fast-check';
import { expect, test } from 'vitest';
import { batchesByLength } from '../../../src/adapters/onnx/batches-by-length.ts';

test('every input is in one batch, longest first, and no padded batch exceeds the limit unless it is one input', () => {
  const lengths = fc.array(fc.integer({ min: 2, max: 256 }), { maxLength: 80 });
  fc.assert(
    fc.property(lengths, fc.integer({ min: 1, max: 1000 }), (inputs, limit) => {
      const batches = [...batchesByLength(inputs, limit)];
      const order = batches.flat();
      expect(order.toSorted((a, b) => a - b)).toEqual(inputs.map((_, index) => index));
      const sizes = order.map((index) => inputs[index] ?? 0);
      expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
      for (const batch of batches) {
        expect(batch.length).toBeGreaterThan(0);
        const width = Math.max(...batch.map((index) => inputs[index] ?? 0));
        if (batch.length > 1) expect(batch.length * width).toBeLessThanOrEqual(limit);
      }
    }),
  );
});
