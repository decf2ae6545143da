/**
 * Knative's metrics as Prometheus has them: OpenTelemetry's names with underscores, the unit of a
 * histogram behind its name, as the exporter for Go writes them.
 *
 * Source: knative/serving v1.23 and knative/eventing v1.22, their packages of metrics.
 */
export const KNATIVE_METRICS = [
  'kn_revision_pods_desired',
  'kn_revision_pods_requested',
  'kn_revision_pods_count',
  'kn_revision_pods_not_ready_count',
  'kn_revision_pods_pending_count',
  'kn_revision_panic_mode',
  'kn_revision_concurrency_stable',
  'kn_revision_concurrency_panic',
  'kn_revision_concurrency_target',
  'kn_revision_capacity_excess',
  'kn_revision_request_queued',
  'kn_revision_request_active',
  'kn_serving_queue_depth',
  'kn_serving_invocation_duration_seconds',
  'kn_eventing_dispatch_duration_seconds',
  'kn_eventing_process_duration_seconds',
] as const;

export type KnativeMetric = (typeof KNATIVE_METRICS)[number];
