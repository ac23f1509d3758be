/**
 * Elements that may change what the rest of a resource means: `modifierExtension` and `implicitRules`
 * (https://hl7.org/fhir/R4/extensibility.html#modifierExtension, https://hl7.org/fhir/R4/resource.html#Resource).
 * What carries one that is not understood must not be processed.
 * Contract: IN-32.
 */
import { ResourceRejected } from '../../../fhir/reading/json-resource.ts';

const REASON =
  'is not understood, and may change what the rest means. Send the resource without it, or ask the operator to add its URL to IMPORT_UNDERSTOOD_EXTENSIONS.';

/**
 * Whether JSON text may have any of these elements: nearly none has, and need not be looked through. A name with a letter
 * that is written as `\u…` may be one of them.
 */
export function mayModify(json: string): boolean {
  return json.includes('modifierExtension') || json.includes('mplicitRules') || json.includes('\\u');
}

/** Throws ResourceRejected when `value`, whose element path is `path`, has one whose URL is not in `understood`. */
export function requireUnderstood(value: object, path: string, understood: ReadonlySet<string>): void {
  // A list and not recursion: JSON may be nested deeper than the stack is.
  const parts: { value: object; path: string }[] = [{ value, path }];
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    const own = part.path;
    if (Array.isArray(part.value)) {
      for (const child of part.value) if (isObject(child)) parts.push({ value: child, path: own });
      continue;
    }
    for (const [name, child] of Object.entries(part.value)) {
      if (!isUnderstood(name, child, understood))
        throw new ResourceRejected(`${reportedPath(`${own}.${name}`)} ${REASON}`);
      if (isObject(child)) parts.push({ value: child, path: `${own}.${name}` });
    }
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isUnderstood(name: string, value: unknown, understood: ReadonlySet<string>): boolean {
  // Rules without a URL, which only an extension says something of.
  if (name === '_implicitRules') return false;
  if (name === 'implicitRules') return isAmong(understood, value);
  if (name !== 'modifierExtension') return true;
  return Array.isArray(value) && value.length > 0 && value.every((item) => isAmong(understood, item?.url));
}

function isAmong(understood: ReadonlySet<string>, url: unknown): boolean {
  return typeof url === 'string' && understood.has(url);
}

/** A path that is safe to report: an element name that FHIR cannot have may carry anything. */
export function reportedPath(path: string): string {
  return /^[A-Za-z0-9_.[\]]{1,200}$/.test(path) ? path : `${path.split('.')[0]}.(unknown element)`;
}
