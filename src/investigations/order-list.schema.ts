/** An order in a list, in the OpenAPI document. */

import { CODE_SCHEMAS } from '../clinical/fetch/clinical.schema.ts';
import { ENCOUNTER_ID, ORDER_ID, PATIENT_ID } from '../clinical/fetch/fetched-examples.ts';
import { named } from '../platform/http/named-schema.ts';
import { pageSchema } from '../platform/http/paging.ts';
import { Type } from '../platform/json-schema.ts';

export const OrderPageSchema = pageSchema(
  named(
    'ListedOrder',
    Type.Object({
      orderId: Type.String({ examples: [ORDER_ID] }),
      patientId: Type.String({ examples: [PATIENT_ID] }),
      encounterId: Type.Union([Type.String(), Type.Null()], { examples: [ENCOUNTER_ID] }),
      status: Type.String({ description: 'FHIR status of the order.', examples: ['completed'] }),
      ...CODE_SCHEMAS,
      orderedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
        examples: ['2026-01-10T08:00:00Z'],
        description:
          'When the order was written, else when it is due, else when its first part was made. null if neither is known, or only as a month or a year. If only the day is known, midnight at the facility.',
      }),
      orderedOn: Type.Optional(
        Type.String({ description: 'The date as the source wrote it, if it gave no time of day.' }),
      ),
    }),
  ),
);
