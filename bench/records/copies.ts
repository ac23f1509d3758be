/**
 * Copies of FHIR files, each with ids of its own, as if that many more patients had come. Files without a Patient (those
 * of hospitals and practitioners) stay one: the copies refer to them.
 */
import { hash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

interface Resource {
  resourceType: string;
  id?: string;
  identifier?: { value?: string }[] | { value?: string };
}

export interface Bundle {
  resourceType: 'Bundle';
  type: string;
  entry?: { fullUrl?: string; resource?: Resource }[];
}

export interface Copy {
  /** In the order of an import: what others refer to comes first. */
  name: string;
  bundle: Bundle;
}

/** The files without a Patient, then the first copy of each other one, then the second, and so on. */
export async function* copiesOf(folder: string, copies = Number.POSITIVE_INFINITY): AsyncGenerator<Copy> {
  const names = (await readdir(folder)).filter((file) => /\.json(\.gz)?$/.test(file)).sort();
  const withPatient: string[] = [];
  for (const name of names) {
    const bundle = await readBundle(join(folder, name));
    const has = bundle.entry?.some(({ resource }) => resource?.resourceType === 'Patient') === true;
    if (has) withPatient.push(name);
    else yield { name: `0000-${name}`, bundle };
  }
  if (withPatient.length === 0) throw new Error(`${folder} has no Bundle with a Patient.`);
  for (let copy = 1; copy <= copies; copy += 1)
    for (const name of withPatient)
      yield {
        name: `${String(copy).padStart(4, '0')}-${name}`,
        bundle: copyOf(await readBundle(join(folder, name)), copy),
      };
}

export async function writeCopies(from: string, to: string, copies: number): Promise<void> {
  for await (const { name, bundle } of copiesOf(from, copies)) await writeBundle(join(to, name), bundle);
}

export async function readBundle(path: string): Promise<Bundle> {
  const bytes = await readFile(path);
  return JSON.parse(String(path.endsWith('.gz') ? await promisify(gunzip)(bytes) : bytes)) as Bundle;
}

async function writeBundle(path: string, bundle: Bundle): Promise<void> {
  const text = JSON.stringify(bundle);
  await writeFile(path, path.endsWith('.gz') ? await promisify(gzip)(text, { level: 1 }) : text);
}

/** New ids and identifiers for what is in the Bundle; references to what is elsewhere stay. */
export function copyOf(bundle: Bundle, copy: number): Bundle {
  const own = new Set<string>();
  for (const { fullUrl = '', resource } of bundle.entry ?? [])
    for (const id of [fullUrl, resource?.id ?? '', ...identifiersOf(resource)].flatMap(uuidsOf)) own.add(id);
  const text = JSON.stringify(bundle).replace(UUID, (id) =>
    own.has(id.toLowerCase()) ? freshId(id, copy) : id,
  );
  const made = JSON.parse(text) as Bundle;
  for (const { resource } of made.entry ?? [])
    for (const identifier of [resource?.identifier ?? []].flat())
      if (identifier.value !== undefined && uuidsOf(identifier.value).length === 0)
        identifier.value += `-${copy}`;
  return made;
}

function identifiersOf(resource: Resource | undefined): string[] {
  return [resource?.identifier ?? []].flat().flatMap(({ value }) => value ?? []);
}

function uuidsOf(text: string): string[] {
  return (text.match(UUID) ?? []).map((id) => id.toLowerCase());
}

/** Always the same one for an id and a copy. */
function freshId(id: string, copy: number): string {
  const digits = hash('sha256', `${copy} ${id.toLowerCase()}`);
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `5${digits.slice(13, 16)}`,
    `8${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-');
}
