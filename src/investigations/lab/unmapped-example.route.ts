/** GET /terminology/unmapped/example. Contract: ADM-67. */

import { ORDER_ID, PATIENT_ID, RESULT_ID } from '../../clinical/fetch/fetched-examples.ts';
import { named } from '../../platform/http/named-schema.ts';
import { listSchema } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { LOCAL_CODE_QUERY } from '../../terminology/unmapped/suggest-maps.route.ts';
import { createOrderEmitter, type EmitDependencies } from '../emit-investigation.ts';
import { readUnmappedExample, type UnmappedExampleDependencies } from './unmapped-example.ts';

const ExampleSchema = named(
  'UnmappedExample',
  Type.Object(
    {
      patientId: Type.String(),
      orderId: Type.String(),
      resource: Type.Object({}, { additionalProperties: true, description: 'A FHIR R4 Observation.' }),
    },
    {
      examples: [
        {
          patientId: PATIENT_ID,
          orderId: ORDER_ID,
          resource: {
            resourceType: 'Observation',
            id: RESULT_ID,
            status: 'final',
            code: { coding: [{ system: 'http://hospital.example/lab', code: 'GLU', display: 'Glucose' }] },
            subject: { reference: `Patient/${PATIENT_ID}` },
            valueQuantity: { value: 5.4, unit: 'mmol/L' },
          },
        },
      ],
    },
  ),
);

export function unmappedExampleRoute(
  given: EmitDependencies & Pick<UnmappedExampleDependencies, 'accessLog'>,
): Route<Access> {
  const deps = { ...given, emitOrder: createOrderEmitter(given) };
  return facilityRoute(
    {
      permissions: ['investigations.lab.list'],
      module: 'lab',
      purposeOfUse: 'default',
    },
    {
      docs: {
        operationId: 'readUnmappedExample',
        summary: 'Read one real result with a local code',
        description:
          "As it goes out now, to see what a map changes. The service writes the call to the patient's access log.",
        tag: 'Terminology',
      },
      query: Type.Object(LOCAL_CODE_QUERY),
      responses: {
        200: {
          description: 'One result whose source gave no standard code, or none when there is no such result.',
          schema: listSchema(ExampleSchema, { maxItems: 1 }),
        },
      },
      handle: async ({ query: { system = '', code } }, context) => ({
        body: { items: await readUnmappedExample(deps, { system, code }, context) },
      }),
    },
  );
}
