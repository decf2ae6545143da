import { readFile } from 'node:fs/promises';

/** What is pinned of nats-server: the oldest version that serves, the archive and the Go module. */
export interface NatsRelease {
  readonly minimumVersion: string;
  readonly download: {
    readonly version: string;
    /** With `{version}` and `{platform}` to fill in. */
    readonly url: string;
    /** Platform → hex SHA-256 of its archive; a platform without a row is never downloaded. */
    readonly sha256: Readonly<Record<string, string>>;
  };
  readonly module: { readonly path: string; readonly version: string };
}

/** The pinned release of nats-release.json. */
export async function readNatsRelease(): Promise<NatsRelease> {
  const text = await readFile(new URL('nats-release.json', import.meta.url), 'utf8');
  return JSON.parse(text) as NatsRelease;
}

/** `linux-amd64`: how the archives name the machine that Node calls `linux` and `x64`. */
export const releasePlatform = (platform: string, architecture: string): string =>
  `${platform}-${architecture === 'x64' ? 'amd64' : architecture}`;

/** `nats-server: v2.15.2` → `2.15.2`; undefined for the output of anything else. */
export const versionOf = (output: string): string | undefined =>
  /^nats-server: v?(\d+\.\d+\.\d+)/m.exec(output)?.[1];

/** Whether a version such as 2.9.25 is at least a minimum such as 2.10.0, number by number. */
export function isAtLeast(version: string, minimum: string): boolean {
  const [have, want] = [version, minimum].map((text) => text.split('.').map(Number));
  for (let index = 0; index < 3; index++) {
    const difference = (have?.[index] ?? 0) - (want?.[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
