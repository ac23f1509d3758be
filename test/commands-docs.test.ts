/** The commands that the pages print: they exist, and are printed with what they need. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { buildProgram } from '../src/app/commands.ts';
import { PERMISSIONS } from '../src/tenancy/roles/permissions.ts';
import { leaves } from '../test-support/service/command-names.ts';

const ROOT = join(import.meta.dirname, '..');

function faultsOf(commands: ReturnType<typeof leaves>, call: string): string[] {
  const found = commands.find(({ name }) => `${call} `.startsWith(`${name} `));
  if (found === undefined) return ['no such command'];
  const { options } = found.command;
  const given: string[] = call.match(/--[a-z-]+/g) ?? [];
  const unknown = given.filter((flag) => flag !== '--help' && !options.some(({ long }) => long === flag));
  const missing = /…|--help/.test(call)
    ? []
    : options.filter(({ long, mandatory }) => mandatory && !given.includes(String(long)));
  return [...unknown.map((flag) => `no ${flag}`), ...missing.map(({ long }) => `${long} is missing`)];
}

describe('every command that a page prints', () => {
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8').replaceAll(/\\\n\s*/g, '');

  test('exists, takes the options that are given, and gets those that it needs', async () => {
    const commands = leaves(await buildProgram());
    const calls = globSync(['*.md', 'docs/*.md'], { cwd: ROOT }).flatMap((page) =>
      [...read(page).matchAll(/(?:npx interchange|bin\/interchange\.ts) ([a-z][^\n`]*)/g)].map(
        ([, line]) => ({
          page,
          call: line?.split(/ #| \|| > |[;)]/)[0] ?? '',
        }),
      ),
    );
    assert.deepEqual(
      calls.flatMap(({ page, call }) =>
        faultsOf(commands, call).map((fault) => `${page}: ${fault}: ${call}`),
      ),
      [],
    );
    assert.ok(calls.length > 100, 'the pages are read');
  });

  test('makes an administrator who can give every permission (docs/sign-in.md)', () => {
    const [, list = ''] = /--name administrator --permissions (\S+)/.exec(read('docs/sign-in.md')) ?? [];
    assert.deepEqual(list.split(',').sort(), Object.keys(PERMISSIONS).sort());
  });
});
