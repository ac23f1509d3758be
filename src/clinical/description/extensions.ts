/** Extensions that are kept, by URL (https://hl7.org/fhir/R4/extensibility.html). All others are counted as not kept. */
import type { CodeableConcept } from '../../fhir/coded.ts';
import type { Quantity } from '../../fhir/measured.ts';
import { codeableConcept, nonEmpty, optional } from '../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../fhir/reading/element-reader.ts';
import { quantity } from '../../fhir/reading/measured.ts';
import { exactJson } from '../content/document.ts';
import { type Derived, type Member, single } from './element.ts';

export type ExtensionType = 'CodeableConcept' | 'Quantity' | 'string';

interface KeptExtension {
  url: string;
  valueCodeableConcept?: CodeableConcept;
  valueQuantity?: Quantity;
  valueString?: string;
}

/** `kept`: the type of the value of each extension that is kept, by URL. */
export function extensions(
  kept: ReadonlyMap<string, ExtensionType>,
): Derived<Member<'extension', KeptExtension[]>> {
  const element = single<'extension', KeptExtension[]>('extension', {
    type: 'jsonb',
    read: (reader, name, context) =>
      nonEmpty(
        reader.children(name).map((item) => {
          const read = readExtension(item, kept);
          if (read === undefined) context.notKept(item.path);
          return read;
        }),
      ),
    write: (output, name, value) => output.json(name, value.map(inOrder)),
  });
  // R4_ELEMENTS does not list it, because every resource can have it. So it has to be a derived one.
  return {
    ...element,
    fields: ({ alias }) => exactJson(alias, ['extension']),
    derive: () => ({ values: {} }),
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
  if (url === undefined || type === undefined || name?.toLowerCase() !== `value${type}`.toLowerCase())
    return undefined;
  const value = readValue(item, name, type);
  return value && { url, ...value };
}

function readValue(
  item: ElementReader,
  name: string,
  type: ExtensionType,
): Omit<KeptExtension, 'url'> | undefined {
  switch (type) {
    case 'CodeableConcept': {
      const valueCodeableConcept = optional(item.child(name), codeableConcept);
      return valueCodeableConcept && { valueCodeableConcept };
    }
    case 'Quantity': {
      const valueQuantity = optional(item.child(name), quantity);
      return valueQuantity && { valueQuantity };
    }
    case 'string':
      return { valueString: item.string(name) ?? '' };
  }
}

/** `url` before the value, as on the FHIR page. */
function inOrder({ url, ...value }: KeptExtension): KeptExtension {
  return { url, ...value };
}
