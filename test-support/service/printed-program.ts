/** Programs that are printed in docs: found on their page, and run to their end. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

const ROOT = new URL('../../', import.meta.url);

export interface ProgramResult {
  /** Null when a signal ended it. */
  code: number | null;
  output: string;
  errors: string;
}

/** The first code block of a language in a section of a page, `page` as in `docs/first-call.md`. */
export function printedProgram(page: string, section: string, language: string): string {
  const sections = readFileSync(new URL(page, ROOT), 'utf8').split(/^## /m);
  const text = sections.find((one) => one.startsWith(section));
  const program = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(text ?? '')?.[1];
  assert.ok(program, `${page} lost the ${language} program of "${section}"`);
  return program;
}

/** In the folder of the project, with nothing else in its environment than `env`. */
export async function runProgram(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<ProgramResult> {
  const child = spawn(command, args, { env, cwd: ROOT });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const [code] = await once(child, 'close');
  return { code: code as number | null, output, errors };
}

/** Whether the command is on the PATH. */
export function isInstalled(command: string): boolean {
  return spawnSync('which', [command]).status === 0;
}
