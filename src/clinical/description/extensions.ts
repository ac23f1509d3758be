/** Extensions that are kept, by URL (https://hl7.org/fhir/R4/extensibility.html). All others are counted as not kept. */
import { codeableConcept, optional } from '../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../fhir/reading/element-reader.ts';
import { quantity } from '../../fhir/reading/measured.ts';
import { type Derived, type Member, NOTHING } from './element.ts';
import { exactList } from './kinds.ts';

/** As the name of the element with the value ends. */
export type ExtensionType = 'CodeableConcept' | 'Quantity' | 'String';

interface KeptExtension {
  url: string;
  /** `valueCodeableConcept` and the like. */
  [value: `value${string}`]: unknown;
}

/** `kept`: the type of the value of each extension that is kept, by URL. */
export function extensions(
  kept: ReadonlyMap<string, ExtensionType>,
): Derived<Member<'extension', KeptExtension[]>> {
  return {
    ...exactList<'extension', KeptExtension>('extension', (item, context) => {
      const read = readExtension(item, kept);
      if (read === undefined) context.notKept(item.path);
      return read;
    }),
    // R4_ELEMENTS does not list it, because every resource can have it. So it has to be a derived one.
    derive: () => NOTHING,
  };
}

function readExtension(
  item: ElementReader,
  kept: ReadonlyMap<string, ExtensionType>,
): KeptExtension | undefined {
  const url = item.uri('url');
  const type = url === undefined ? undefined : kept.get(url);
  const name = item.choice('value');
  // What is inside of one that is not kept is counted with it.
  if (name !== undefined) item.ignore(name);
  if (item.has('extension')) item.ignore('extension');
  if (url === undefined || type === undefined || name !== `value${type}`) return undefined;
  const value = VALUES[type](item, name);
  return value === undefined ? undefined : { url, [name]: value };
}

const VALUES: Readonly<Record<ExtensionType, (item: ElementReader, name: string) => unknown>> = {
  CodeableConcept: (item, name) => optional(item.child(name), codeableConcept),
  Quantity: (item, name) => optional(item.child(name), quantity),
  String: (item, name) => item.string(name),
};
