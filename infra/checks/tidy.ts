import type { SourceFile } from './source-files.ts';

export interface TidyRule {
  readonly name: string;
  /** Files the rule looks at. */
  readonly files: RegExp;
  /** Files that may do it all the same: the one place where it belongs. */
  readonly except?: RegExp;
  readonly pattern: RegExp;
  readonly remedy: string;
}

const CODE = /^(functions|eventing|infra|loadtest|cli)\/.*\.ts$/;
const TEST = /\.(test|contract)\.ts$/;

/** House rules that a linter does not know. Each has a planted violation in tidy.test.ts. */
export const TIDY_RULES: readonly TidyRule[] = [
  {
    name: 'clock',
    files: CODE,
    except: /^functions\/kernel\/system\/|^loadtest\/bench\/|\/testing\/|\.test\.ts$/,
    pattern: /\bDate\.now\(|\bperformance\.now\(|\bnew Date\(\)|process\.hrtime/,
    remedy: 'take a Clock as a parameter',
  },
  {
    name: 'chance',
    files: CODE,
    pattern: /\bMath\.random\(/,
    remedy: 'take a Random as a parameter (functions/kernel/core/random.ts)',
  },
  {
    name: 'environment',
    files: CODE,
    except:
      /^functions\/kernel\/runtime\/run-stage\.ts$|main\.ts$|^cli\/|^infra\/testing\/|\/testing\/|\.test\.ts$/,
    pattern: /\bprocess\.env\b/,
    remedy: 'read the environment in the shell and pass it down',
  },
  {
    name: 'sleeping test',
    files: TEST,
    pattern: /\bsetTimeout\(|timers\/promises|systemClock\.sleep\(/,
    remedy: 'use VirtualClock, or wait for the event itself',
  },
  {
    name: 'focused test',
    files: TEST,
    pattern: /\b(test|it|describe)\.only\b/,
    remedy: 'run the whole suite',
  },
  {
    name: 'swallowed error',
    files: CODE,
    pattern: /catch\s*(\(\w*\))?\s*\{\s*\}/,
    remedy: 'handle it, or rethrow it with its cause',
  },
  {
    name: 'reminder',
    files: /\.(ts|js|md|ya?ml|json|sh|py|go)$|Makefile$/,
    except: /^package-lock\.json$/,
    pattern: /\b(TODO|FIXME|XXX|HACK)\b/,
    remedy: 'do it, or leave it out',
  },
  {
    name: 'machine path',
    files: /\.(ts|js|md|ya?ml|json|sh|py|go)$|Makefile$|^\.ci\/run$/,
    pattern: /\/(work\/(main|shared)|root\/|home\/[a-z])/,
    remedy: 'use a path relative to the repository',
  },
  {
    name: 'registry host',
    files: /\.(ts|js|md|ya?ml|json|sh|py|go|npmrc)$|Makefile$|^\.ci\/run$/,
    pattern: /registry\.npmjs|proxy\.golang|pypi\.org|deb\.debian/,
    remedy: 'name the package, not where it comes from',
  },
  {
    name: 'bare time unit',
    files: CODE,
    pattern:
      /\b(const|let|readonly) \w*(timeout|delay|interval|Timeout|Delay|Interval)\b\s*[:=]\s*\d/,
    remedy: 'put the unit last: timeoutMs, delayMs',
  },
];

/** Names that say nothing about what is inside. */
export const VAGUE_NAME = /(^|\/)(utils?|helpers?|common|misc|index)(\/|\.ts$)/;

export const MAX_FILE_LINES = 400;
export const MAX_LINE_LENGTH = 120;

/** The rules themselves and their planted violations. */
const OWN_TEXT = /^infra\/checks\/tidy/;
/** One table on one page, however long: splitting it would hide what it shows. */
const ONE_TABLE = /^functions\/kernel\/core\/errors\.ts$/;
/** A table whose rows hold one sentence each; expected texts of tests. */
const LONG_LINES = /^functions\/kernel\/core\/errors\.ts$|\.test\.ts$/;

/** One sentence for each place where a file breaks a rule. */
export function untidy(file: SourceFile): string[] {
  if (OWN_TEXT.test(file.path)) return [];
  const found: string[] = [];
  const lines = file.text.split('\n');
  for (const rule of TIDY_RULES) {
    if (!rule.files.test(file.path) || rule.except?.test(file.path) === true) continue;
    for (const [index, line] of lines.entries()) {
      if (rule.pattern.test(line)) {
        found.push(`${file.path}:${index + 1} ${rule.name}: ${rule.remedy}`);
      }
    }
  }
  if (CODE.test(file.path)) {
    if (VAGUE_NAME.test(file.path)) found.push(`${file.path}: name it after its one idea`);
    if (lines.length > MAX_FILE_LINES + 1 && !ONE_TABLE.test(file.path))
      found.push(`${file.path}: over ${MAX_FILE_LINES} lines`);
    const long = lines.findIndex((line) => line.length > MAX_LINE_LENGTH);
    if (long >= 0 && !LONG_LINES.test(file.path))
      found.push(`${file.path}:${long + 1} is over ${MAX_LINE_LENGTH} characters`);
  }
  if (file.path.endsWith('.md')) {
    const outsideCode = file.text.replaceAll(/```[\s\S]*?```/g, '');
    const titles = outsideCode.match(/^# /gm)?.length ?? 0;
    if (titles !== 1) found.push(`${file.path}: one first-level title, not ${titles}`);
  }
  return found;
}
