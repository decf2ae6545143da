import type { LocalState } from './local-state.ts';

/** Between `up` and the process that keeps the pipeline running. */
export interface DaemonRequest {
  readonly root: string;
  readonly home: string;
  readonly overlay: string;
  readonly dataDir: string;
  readonly port: number;
  /** Keys of the ConfigMap `tachograph` beside the store's and the files' URL: the stages' demands. */
  readonly settings: Readonly<Record<string, string>>;
}

export type DaemonReport =
  | { readonly kind: 'progress'; readonly line: string }
  | { readonly kind: 'ready'; readonly state: LocalState }
  | { readonly kind: 'failed'; readonly message: string };
