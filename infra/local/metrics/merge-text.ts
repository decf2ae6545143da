/** `# HELP name text`, `# TYPE name kind`, `# UNIT name unit`. */
const ABOUT = /^# (?:HELP|TYPE|UNIT) (\S+)/;

interface Family {
  readonly about: readonly string[];
  readonly samples: string[];
}

/**
 * Puts the texts of several processes together, family by family: Prometheus reads no text in which a
 * family stands twice. Whose a sample is says its own labels. Lines that belong to no family are left out.
 */
export function mergeText(texts: readonly string[]): string {
  const families = new Map<string, Family>();
  for (const text of texts) {
    let about: string[] = [];
    let current: Family | undefined;
    for (const line of text.split('\n')) {
      const name = ABOUT.exec(line)?.[1];
      if (name !== undefined) {
        // The lines about a family stand before its samples, HELP first.
        about = current === undefined ? [...about, line] : [line];
        current = undefined;
        continue;
      }
      if (line === '' || line.startsWith('#')) continue;
      if (about.length > 0) {
        const family = ABOUT.exec(about[0] ?? '')?.[1] ?? '';
        current = families.get(family) ?? { about, samples: [] };
        families.set(family, current);
        about = [];
      }
      current?.samples.push(line);
    }
  }
  const names = [...families.keys()].sort();
  const lines = names.flatMap((name) => {
    const family = families.get(name);
    return family === undefined ? [] : [...family.about, ...family.samples];
  });
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}
