/** An order in a list, in the OpenAPI document. */
import Type from 'typebox';
import { CODE_SCHEMAS } from '../clinical/fetch/clinical.schema.ts';
import { pageSchema } from '../platform/http/paging.ts';

export const OrderPageSchema = pageSchema(
  Type.Object({
    orderId: Type.String(),
    patientId: Type.String(),
    encounterId: Type.Union([Type.String(), Type.Null()]),
    status: Type.String({ description: 'FHIR status of the order.' }),
    ...CODE_SCHEMAS,
    orderedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description:
        'When it was written, else when its first part was made; null where neither is known, or only a month or a year. Of a day it is midnight at the facility.',
    }),
    orderedOn: Type.Optional(
      Type.String({ description: 'The date as the source wrote it, where it gave no time of day.' }),
    ),
  }),
);
