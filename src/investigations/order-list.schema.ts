/** An order in a list, in the OpenAPI document. */
import Type from 'typebox';
import { pageSchema } from '../observations/clinical.schema.ts';

export const OrderPageSchema = pageSchema(
  Type.Object({
    orderId: Type.String(),
    patientId: Type.String(),
    encounterId: Type.Union([Type.String(), Type.Null()]),
    status: Type.String({ description: 'FHIR status of the order.' }),
    code: Type.String({ description: 'The LOINC code; where no map leads to one, the local code.' }),
    orderedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When it was written, else when its first part was made; null where neither is known.',
    }),
  }),
);
