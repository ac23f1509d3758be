/** SQL that reads vital sets with their vital signs. Contract: ACC-3, FETCH-25. */
import { columns } from '../../clinical/content/document.ts';
import {
  createRecordLoader,
  type Loaded,
  type RecordKey,
  type RecordSource,
} from '../../clinical/fetch/record-loader.ts';
import type { KeptObservation } from '../../clinical/kept/fill-observation.fhir.ts';
import { rowByKey, rowsByIndex } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';

/** The vital signs of one encounter and time. */
export interface VitalSetRecord {
  id: string;
  observations: KeptObservation[];
}

const SOURCE: RecordSource<RecordKey> = {
  name: 'vital-set-load',
  title: () => 'The vital set',
  fields: columns('v', ['id']),
  observations: {
    rows: (columns) => `select ${columns}, b.effective_at, b.issued_at, b.id
          from ${rowsByIndex('observation', 'b', { first: { facility_id: 'v.facility_id' }, column: 'vital_set_id', value: 'v.id' })} b
          where b.patient_id = v.patient_id`,
    order: 'member.effective_at, member.issued_at, member.id',
  },
  alias: 'v',
  empty: {},
  joins: `
    cross join ${rowByKey('vital_set', 'v', { facility_id: 'asked.facility_id', id: 'asked.id' })} v
    cross join ${rowByKey('patient', 'p', { id: 'v.patient_id' }, 'p.refused_purposes')} p`,
};

/**
 * Loads by id; those that arrive together share a round trip. Undefined: no such set in the scope. 422 when it is
 * too large for one answer.
 */
export function createVitalSetLoader(
  db: Queryable,
): (key: RecordKey) => Promise<Loaded<VitalSetRecord> | undefined> {
  return createRecordLoader(db, SOURCE);
}
