import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { bookProducer, type BookProducerOptions } from './book-producer.ts';

/** Whose values they are stands on every sample: several processes' texts can be put together. */
const CONSTANT_LABELS = /^service\.(name|instance\.id)$/;

/** The book as Prometheus reads it. */
export async function prometheusText(options: BookProducerOptions): Promise<string> {
  const { resourceMetrics } = await bookProducer(options).collect();
  return new PrometheusSerializer('', false, CONSTANT_LABELS, true, true).serialize(
    resourceMetrics,
  );
}
