import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivateFolder } from '#infra/local/private-folder.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';

/** The engineers' token: the file holds it, the stages know its hash only. */
export interface EngineerToken {
  readonly file: string;
  readonly token: string;
  readonly sha256: string;
}

/** Reads the token, or makes one (256 bits) that stays until its file is removed. */
export async function engineerToken(home: string): Promise<EngineerToken> {
  const file = join(home, 'engineer-token');
  await makePrivateFolder(home);
  try {
    await writeFile(file, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const token = (await readFile(file, 'utf8')).trim();
  return { file, token, sha256: sha256Hex(token) };
}
