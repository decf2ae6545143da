import { fileURLToPath } from 'node:url';
import { readPipeline, type PipelineManifests } from '../pipeline-manifests.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
/** A folder that is on no disk. */
const FOLDER = 'lab';

/** Reads manifests given as text, as the file `lab/x.yaml`; every entry may be `lab/stage.ts`. */
export const readText = (text: string): Promise<PipelineManifests> =>
  readPipeline(root, FOLDER, {
    [`${FOLDER}/kustomization.yaml`]: 'resources: [x.yaml]\n',
    [`${FOLDER}/x.yaml`]: text,
    [`${FOLDER}/stage.ts`]: '',
  });

/** Reads overlay `local` of this repository with components, and patches as kustomize has them. */
export const readArm = (
  components: readonly string[],
  patches: string = '[]',
): Promise<PipelineManifests> =>
  readPipeline(root, 'infra/kubernetes/overlays/arm', {
    'infra/kubernetes/overlays/arm/kustomization.yaml': [
      'resources: [../local]',
      `components: [${components.map((name) => `../../components/${name}`).join(', ')}]`,
      `patches: ${patches}`,
    ].join('\n'),
  });
