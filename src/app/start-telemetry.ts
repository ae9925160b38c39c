import { setTimeout } from 'node:timers/promises';
import type { ProxyTracerProvider } from '@opentelemetry/api';
import type { AppConfig } from '../config/load-config.ts';
import type { Telemetry } from './telemetry.ts';

/** How long the end of a command waits for the collector. */
const FLUSH_MS = 3_000;

/**
 * Traces this process if it has a tracer provider, such as from `node --import`, or if the OTEL_ variables of the
 * environment name an exporter. Loads nothing otherwise. `flush` exports the last spans and tells whether it could.
 */
export async function startTelemetry(
  { telemetry }: AppConfig,
  warn: (sentence: string) => void,
): Promise<{ telemetry: Telemetry; flush(): Promise<boolean> } | null> {
  // All copies of the API keep what is registered there.
  const { trace: registered } = Reflect.get(globalThis, Symbol.for('opentelemetry.js.api.1')) ?? {};
  if (!registered && !telemetry.isExporting) return null;
  if (!registered && !(await registerSdk(telemetry))) {
    warn('No traces: the OpenTelemetry SDK is not installed (npm install -g @opentelemetry/sdk-node).');
    return null;
  }
  const { createTelemetry } = await import('./telemetry.ts');
  const { trace } = await import('@opentelemetry/api');
  return {
    telemetry: await createTelemetry(telemetry),
    async flush() {
      const provider = (trace.getTracerProvider() as ProxyTracerProvider).getDelegate();
      const exported: Promise<void> = Reflect.get(provider, 'forceFlush')?.call(provider);
      const inTime = setTimeout(FLUSH_MS, false, { ref: false });
      return Promise.race([inTime, Promise.resolve(exported).then(() => true)]).catch(() => false);
    },
  };
}

/** Registers the SDK with the exporter, sampler and resource of the OTEL_ variables; false if it is not installed. */
async function registerSdk({ serviceName, detectors }: AppConfig['telemetry']): Promise<boolean> {
  const sdk = await import('@opentelemetry/sdk-node').catch(() => null);
  if (sdk === null) return false;
  process.env.OTEL_SERVICE_NAME = serviceName;
  process.env.OTEL_NODE_RESOURCE_DETECTORS = detectors;
  new sdk.NodeSDK({ metricReaders: [], logRecordProcessors: [] }).start();
  return true;
}
