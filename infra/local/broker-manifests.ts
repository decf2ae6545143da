import type { BrokerKey } from '#eventing/broker/broker-names.ts';
import type { PlainManifest } from './manifests/pipeline-manifests.ts';

export const brokerKey = (broker: PlainManifest): BrokerKey => ({
  namespace: broker.metadata.namespace ?? 'default',
  name: broker.metadata.name,
});

/** A Trigger without a delivery of its own has its Broker's. */
export function withBrokerDelivery(
  trigger: PlainManifest,
  brokers: readonly PlainManifest[],
): PlainManifest {
  if (trigger.spec?.['delivery'] !== undefined) return trigger;
  const broker = brokers.find((candidate) => candidate.metadata.name === trigger.spec?.['broker']);
  const delivery = broker?.spec?.['delivery'];
  return delivery === undefined ? trigger : { ...trigger, spec: { ...trigger.spec, delivery } };
}
