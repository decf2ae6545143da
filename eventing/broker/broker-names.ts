/** A Broker is named by its namespace and name, both DNS labels. */
export interface BrokerKey {
  readonly namespace: string;
  readonly name: string;
}

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** Longer types share a token from here on; the dispatcher's exact filter tells them apart. */
const MAX_TOKEN = 128;

export const isDnsLabel = (text: string): boolean => LABEL.test(text);

/** `tachograph/default`: the path of the ingress without its slash, and the key of a map. */
export const brokerPath = ({ namespace, name }: BrokerKey): string => `${namespace}/${name}`;

/** `BROKER_tachograph__default`. */
export const streamName = ({ namespace, name }: BrokerKey): string =>
  `BROKER_${namespace}__${name}`;

/** `broker.tachograph.default`; a label holds no dot, so no Broker's subjects are another's. */
export const subjectPrefix = ({ namespace, name }: BrokerKey): string =>
  `broker.${namespace}.${name}`;

/**
 * The subject of a type's events: `io.tachograph.batch.stored.v1` of tachograph/default goes to
 * `broker.tachograph.default.io_tachograph_batch_stored_v1`, so that the stream itself sorts by type.
 * Two types may share a subject (`a.b` and `a_b`): a subject narrows, the exact filter decides.
 */
export const typeSubject = (broker: BrokerKey, type: string): string =>
  `${subjectPrefix(broker)}.${type.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_TOKEN)}`;

/** `TRIGGER_batch-stored`; names are DNS subdomains, and a consumer's name may hold no dot. */
export const consumerName = (trigger: string): string => `TRIGGER_${trigger.replaceAll('.', '_')}`;
