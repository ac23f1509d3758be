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
  /** Not installed where the service runs. */
  dev?: boolean;
  /** To a folder of this repository. */
  link?: boolean;
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));
const manifest = read('package.json') as Manifest;
const consoleManifest = read('web/package.json') as Pick<Manifest, 'devDependencies'>;
const { packages } = read('package-lock.json') as { packages: Record<string, Locked> };
/** All but the folders of this repository. */
const installed = Object.entries(packages).filter(
  ([path, { link }]) => /node_modules\//.test(path) && link !== true,
);

/** Permissive ones: none of them asks for anything of the code beside it. */
const LICENCES = new Set([
  '(MIT AND Zlib)',
  '(MIT OR CC0-1.0)',
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
  'Unlicense',
  'WTFPL OR ISC',
]);
/** What changes of these files ask for is no matter: nothing of them is passed on, and they build and test alone. */
const TOOLS_ONLY = new Set(['MPL-2.0']);
/** Licences of their own, read and found to be permissive; docs/dependencies.md says what they ask for. */
const READ_BY_US = new Set(['node_modules/@lhncbc/ucum-lhc', 'node_modules/fhirpath']);

test('every dependency is one exact version [OPS-22]', () => {
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  const wanted = Object.entries({
    ...dependencies,
    ...devDependencies,
    ...optionalDependencies,
    ...consoleManifest.devDependencies,
  });
  assert.ok(wanted.length > 20);
  for (const [name, version] of wanted) assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/, name);
});

test('every package is checked against a hash when it is installed [OPS-22]', () => {
  for (const [path, { integrity, inBundle }] of installed)
    assert.ok(inBundle === true || /^sha512-/.test(integrity ?? ''), path);
});

test('every licence goes with ours [OPS-22]', () => {
  for (const [path, { license, inBundle, dev }] of installed)
    if (inBundle !== true && !READ_BY_US.has(path) && !(dev === true && TOOLS_ONLY.has(license ?? '')))
      assert.ok(LICENCES.has(license ?? ''), `${path}: ${license}`);
});

test('only the packages that are named may run a script when they are installed', () => {
  for (const [path, { hasInstallScript }] of installed)
    if (hasInstallScript === true)
      assert.equal(manifest.allowScripts[path.replace(/^.*node_modules\//, '')], true, path);
});
