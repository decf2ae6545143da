// The usual way to trace a Node program, for comparison: loaded with --import before the stage.
import { getNodeAutoInstrumentations } from '@opentelemetry/auto-instrumentations-node';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { NodeSDK } from '@opentelemetry/sdk-node';

const sdk = new NodeSDK({
  // Under a name of its own, so that the stage's own tracing stays off.
  traceExporter: new OTLPTraceExporter({ url: process.env['BENCH_TRACES_URL'] ?? '' }),
  instrumentations: [getNodeAutoInstrumentations()],
});
sdk.start();
