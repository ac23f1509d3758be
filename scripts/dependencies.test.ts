/**
 * What npm installs: pinned, checked against hashes, under licences that go with ours (docs/dependencies.md).
 * Contract: OPS-22.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

interface Manifest {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  overrides: unknown;
  allowScripts: Record<string, boolean>;
}

interface Locked {
  version?: string;
  license?: string;
  integrity?: string;
  /** Packed inside the package that it stands below, and covered by the hash of that one. */
  inBundle?: boolean;
  hasInstallScript?: boolean;
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));
const manifest = read('package.json') as Manifest;
const { packages } = read('package-lock.json') as { packages: Record<string, Locked> };
const installed = Object.entries(packages).filter(([path]) => path !== '');

/** Permissive ones: none of them asks for anything of the code beside it. */
const LICENCES = new Set([
  '(MIT AND Zlib)',
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT OR Apache-2.0',
  'Python-2.0',
  'WTFPL OR ISC',
]);
/** Licences of their own, read and found to be permissive; docs/dependencies.md says what they ask for. */
const READ_BY_US = new Set(['node_modules/@lhncbc/ucum-lhc', 'node_modules/fhirpath']);

test('every dependency is one exact version [OPS-22]', () => {
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  const wanted = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
  assert.ok(wanted.length > 20);
  for (const [name, version] of wanted) assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/, name);
});

test('every package is checked against a hash when it is installed [OPS-22]', () => {
  for (const [path, { integrity, inBundle }] of installed)
    assert.ok(inBundle === true || /^sha512-/.test(integrity ?? ''), path);
});

test('every licence goes with ours [OPS-22]', () => {
  for (const [path, { license, inBundle }] of installed)
    if (inBundle !== true && !READ_BY_US.has(path))
      assert.ok(LICENCES.has(license ?? ''), `${path}: ${license}`);
});

test('only the packages that are named may run a script when they are installed', () => {
  for (const [path, { hasInstallScript }] of installed)
    if (hasInstallScript === true)
      assert.equal(manifest.allowScripts[path.replace(/^.*node_modules\//, '')], true, path);
});
