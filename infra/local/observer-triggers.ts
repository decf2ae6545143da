import { TachographError } from '#kernel/core/errors.ts';
import type { PlainManifest } from './manifests/pipeline-manifests.ts';

/** Triggers that programs have added at once: each is a consumer of the stream with its own position. */
export const MAX_OBSERVERS = 16;

/** Adds and removes Triggers. */
interface TriggerTarget {
  apply(trigger: PlainManifest): Promise<void>;
  remove(name: string): Promise<void>;
}

/**
 * Triggers that other programs add to a running cluster. They can neither replace nor remove one of
 * the pipeline's own, and there are at most MAX_OBSERVERS.
 */
export class ObserverTriggers {
  readonly #reserved: ReadonlySet<string>;
  readonly #target: TriggerTarget;
  readonly #names = new Set<string>();

  constructor(pipeline: readonly PlainManifest[], target: TriggerTarget) {
    this.#reserved = new Set(pipeline.map(({ metadata }) => metadata.name));
    this.#target = target;
  }

  async add(trigger: PlainManifest): Promise<void> {
    const { name } = trigger.metadata;
    this.#refuseReserved(name);
    const isNew = !this.#names.has(name);
    if (isNew && this.#names.size >= MAX_OBSERVERS) {
      throw new TachographError('OBSERVERS_TOO_MANY', { max: MAX_OBSERVERS });
    }
    // Taken before the wait, so that two at once cannot both be the last that fits.
    this.#names.add(name);
    try {
      await this.#target.apply(trigger);
    } catch (error) {
      if (isNew) this.#names.delete(name);
      throw error;
    }
  }

  /** Does nothing for a name that nobody added. */
  async remove(name: string): Promise<void> {
    this.#refuseReserved(name);
    if (!this.#names.has(name)) return;
    await this.#target.remove(name);
    this.#names.delete(name);
  }

  #refuseReserved(name: string): void {
    if (this.#reserved.has(name)) throw new TachographError('TRIGGER_RESERVED', { name });
  }
}
