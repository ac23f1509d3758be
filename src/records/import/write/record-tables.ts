/** Columns that the import writes (migration 0004). */

import type { RecordTable } from '../../../clinical/description/describe.ts';
import type { ChildTable, Column } from '../../../clinical/description/element.ts';

const PERIOD: readonly Column[] = [
  ['period_start', 'text'],
  ['period_end', 'text'],
];

export const PATIENT: RecordTable = {
  name: 'patient',
  reach: 'organisation',
  columns: [
    ['active', 'boolean'],
    ['gender', 'text'],
    ['birth_date', 'text'],
    ['deceased_boolean', 'boolean'],
    ['deceased_date_time', 'text'],
    ['marital_status', 'jsonb'],
    ['multiple_birth_boolean', 'boolean'],
    ['multiple_birth_integer', 'integer'],
    ['communication', 'jsonb'],
    ['contact', 'jsonb'],
    ['sort_name', 'text'],
  ],
  children: [
    patientChild('patient_name', [
      ['use', 'text'],
      ['text', 'text'],
      ['family', 'text'],
      ['given', 'text[]'],
      ['prefix', 'text[]'],
      ['suffix', 'text[]'],
      ...PERIOD,
    ]),
    patientChild('patient_identifier', [
      ['use', 'text'],
      ['type', 'jsonb'],
      ['system', 'text'],
      ['value', 'text'],
      ...PERIOD,
    ]),
    patientChild('patient_telecom', [
      ['system', 'text'],
      ['value', 'text'],
      ['use', 'text'],
      ['rank', 'integer'],
    ]),
    patientChild('patient_address', [
      ['use', 'text'],
      ['type', 'text'],
      ['text', 'text'],
      ['line', 'text[]'],
      ['city', 'text'],
      ['district', 'text'],
      ['state', 'text'],
      ['postal_code', 'text'],
      ['country', 'text'],
    ]),
    {
      name: 'patient_search_key',
      parent: 'patient_id',
      columns: [
        ['kind', 'text'],
        ['key', 'text'],
      ],
    },
  ],
};

function patientChild(name: string, columns: readonly Column[]): ChildTable {
  return { name, parent: 'patient_id', columns: [['position', 'smallint'], ...columns] };
}
