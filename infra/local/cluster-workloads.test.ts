import { expect, test } from 'vitest';
import { telemetryEnvironment } from './cluster-workloads.ts';

test('without a collector a replica gets no variable of telemetry', () => {
  expect(telemetryEnvironment({ PATH: '/bin', SECRET: 'x' })('export-1')).toEqual({});
});

test('with one it gets the standard variables and its own name', () => {
  const parent = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', SECRET: 'x' };
  expect(telemetryEnvironment(parent)('export-1')).toEqual({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
    OTEL_RESOURCE_ATTRIBUTES: 'service.instance.id=export-1',
  });
  const more = { ...parent, OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=lab' };
  expect(telemetryEnvironment(more)('export-2')['OTEL_RESOURCE_ATTRIBUTES']).toBe(
    'deployment.environment.name=lab,service.instance.id=export-2',
  );
});
