import {
  detectResources,
  envDetector,
  resourceFromAttributes,
  type Resource,
} from '@opentelemetry/resources';
import { ATTRIBUTE } from './names.ts';

export interface ProcessIdentity {
  /** `service.name`. */
  readonly service: string;
  /** `service.instance.id`: the replica's name. */
  readonly instance: string;
  /** `tachograph/0.1.0`. */
  readonly software: string;
  readonly pid: number;
}

/** By the conventions a function's name and instance are its process's, not each span's. */
export const functionResource = ({ service, instance }: ProcessIdentity): Resource =>
  resourceFromAttributes({ [ATTRIBUTE.faasName]: service, [ATTRIBUTE.faasInstance]: instance });

/** What the process says of itself; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win over it. */
export function processResource({ service, instance, software, pid }: ProcessIdentity): Resource {
  const [namespace = '', version = ''] = software.split('/');
  const own = resourceFromAttributes({
    [ATTRIBUTE.serviceName]: service,
    [ATTRIBUTE.serviceNamespace]: namespace,
    [ATTRIBUTE.serviceVersion]: version,
    [ATTRIBUTE.serviceInstanceId]: instance,
    [ATTRIBUTE.processPid]: pid,
  });
  return own.merge(detectResources({ detectors: [envDetector] }));
}
