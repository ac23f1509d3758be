/**
 * Fetch of a laboratory order with 40 results and a report, beside the floor. Two loads: orders that are
 * fetched again and again (answers are kept while they are current), and thousands of orders once each, more
 * than are kept (each is loaded and written anew).
 */
import { Agent, get } from 'node:http';
import pg from 'pg';
import { type Measurement, measure } from '../measure.ts';

const RESULTS = 40;
/** Fetched again and again. */
const WARM_ORDERS = 200;
/** So many that the answers kept in memory do not hold them. */
const ORDERS = 4_000;
const CONNECTIONS = 64;

export interface LabFetchBench {
  databaseUrl: string;
  scope: { organisationId: string; facilityId: string };
  /** Base URL of the service, and an access token. */
  serviceUrl: string;
  token: string;
  /** Base URL of the floor, and paths that it answers. */
  floorUrl: string;
  floorPaths: readonly string[];
  seconds: number;
  rounds: number;
}

export interface LabFetchResult {
  floor: Measurement[];
  /** Orders that were fetched before and have not changed. */
  again: Measurement[];
  /** Orders per second that are loaded and written anew. */
  anewPerSecond: number[];
  /** Medians of the ratios to the floor of the same round. */
  ratios: { again: number; anew: number };
  /** Size of one answer. */
  answerBytes: number;
}

export async function benchLabFetch(bench: LabFetchBench): Promise<LabFetchResult> {
  await loadLabOrders(bench.databaseUrl, bench.scope);
  const headers = { authorization: `Bearer ${bench.token}` };
  const paths = Array.from({ length: ORDERS }, (_, index) => pathOf(1 + index));
  const loads = {
    floor: { url: bench.floorUrl, paths: bench.floorPaths, seconds: bench.seconds, connections: CONNECTIONS },
    again: {
      url: bench.serviceUrl,
      headers,
      paths: paths.slice(0, WARM_ORDERS),
      seconds: bench.seconds,
      connections: CONNECTIONS,
    },
  };
  const answerBytes = await fetchOne(`${bench.serviceUrl}${pathOf(1)}`, headers, new Agent());
  for (const load of Object.values(loads)) await measure({ ...load, seconds: 2 });
  const floor: Measurement[] = [];
  const again: Measurement[] = [];
  const anewPerSecond: number[] = [];
  for (let round = 0; round < bench.rounds; round += 1) {
    floor.push(await measure(loads.floor));
    again.push(await measure(loads.again));
    anewPerSecond.push(await fetchEach(bench.serviceUrl, headers, paths));
  }
  const ratios = {
    again: ratio(
      again.map(({ requestsPerSecond }) => requestsPerSecond),
      floor,
    ),
    anew: ratio(anewPerSecond, floor),
  };
  return { floor, again, anewPerSecond, ratios, answerBytes };
}

/** Fetches every path once, each connection its own share. Returns answers per second. */
async function fetchEach(
  url: string,
  headers: Record<string, string>,
  paths: readonly string[],
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const start = performance.now();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, connection) => {
      for (let index = connection; index < paths.length; index += CONNECTIONS)
        await fetchOne(`${url}${paths[index]}`, headers, agent);
    }),
  );
  agent.destroy();
  return Math.round((paths.length * 1_000) / (performance.now() - start));
}

/** Returns the bytes of the answer; throws when its status is not 200. */
function fetchOne(url: string, headers: Record<string, string>, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers, agent }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () =>
        response.statusCode === 200 ? resolve(bytes) : reject(new Error(`answered ${response.statusCode}`)),
      );
    });
    request.on('error', reject);
  });
}

/** The median of the ratios to the floor of the same round. */
function ratio(rates: readonly number[], floor: readonly Measurement[]): number {
  const ratios = rates.map((rate, round) => rate / (floor[round]?.requestsPerSecond ?? Number.NaN));
  return ratios.sort((a, b) => a - b)[Math.floor(ratios.length / 2)] ?? 0;
}

function pathOf(number: number): string {
  return `/api/v1/investigations/lab/orders/${idOf(4, number)}/clinical/fhir`;
}

function idOf(kind: number, number: number): string {
  return `00000000-0000-4000-8000-${kind}${String(number).padStart(11, '0')}`;
}

/** Orders of patients that `load-records.ts` made, in the shape that an import leaves behind. */
async function loadLabOrders(
  databaseUrl: string,
  { organisationId, facilityId }: LabFetchBench['scope'],
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query('select count(*)::int as n from observation');
    if (rows[0]?.n >= ORDERS * RESULTS) return;
    await client.query('set synchronous_commit = off');
    for (const text of STATEMENTS) await client.query(text, [organisationId, facilityId]);
    await client.query('vacuum (analyze)');
  } finally {
    await client.end();
  }
}

const id = (kind: number, number: string) =>
  `('00000000-0000-4000-8000-${kind}' || lpad((${number})::text, 11, '0'))::uuid`;
const PATIENT = id(1, '1 + n % 1000');
const TIME = `timestamptz '2023-01-01' + n * interval '17 minutes'`;
const TIME_TEXT = `to_char(${TIME}, 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

const STATEMENTS = [
  `insert into investigation_order
     (organisation_id, facility_id, id, patient_id, discipline, status, intent, category, code, authored_at,
      authored_source, requester, sort_at, content_digest)
   select $1, $2, ${id(4, 'n')}, ${PATIENT}, 'laboratory', 'completed', 'order',
     '[{"coding":[{"system":"http://snomed.info/sct","code":"108252007","display":"Laboratory procedure"}]}]',
     '{"coding":[{"system":"http://loinc.org","code":"24323-8","display":"Comprehensive metabolic 2000 panel - Serum or Plasma"}],"text":"Comprehensive panel"}',
     ${TIME}, ${TIME_TEXT}, jsonb_build_object('type', 'Practitioner', 'id', ${id(3, '1 + n % 500')}, 'display', 'Dr. Practitioner'),
     ${TIME}, decode(md5(n::text), 'hex')
   from generate_series(1, ${ORDERS}) n
   on conflict do nothing`,
  `insert into observation
     (organisation_id, facility_id, id, order_id, patient_id, kind, vital_sign, status, category, code, effective_type,
      effective_start, effective_at, issued_source, issued_at, performer, value_type, value_number, value_unit,
      value_unit_system, value_unit_code, interpretation, content_digest)
   select $1, $2, ${id(5, `n * ${RESULTS} + m`)}, ${id(4, 'n')}, ${PATIENT}, 'laboratory', false, 'final',
     '[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"laboratory","display":"Laboratory"}]}]',
     jsonb_build_object('coding', jsonb_build_array(jsonb_build_object('system', 'http://loinc.org', 'code', (2000 + m) || '-1', 'display', 'Substance ' || m || ' [Moles/volume] in Serum or Plasma')), 'text', 'Substance ' || m),
     'dateTime', ${TIME_TEXT}, ${TIME}, ${TIME_TEXT}, ${TIME},
     jsonb_build_array(jsonb_build_object('type', 'Practitioner', 'id', ${id(3, '1 + n % 500')}, 'display', 'Dr. Practitioner')),
     'Quantity', 100 + m + 0.50, 'mmol/L', 'http://unitsofmeasure.org', 'mmol/L',
     '[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation","code":"N","display":"Normal"}]}]',
     decode(md5(n || '-' || m), 'hex')
   from generate_series(1, ${ORDERS}) n, generate_series(0, ${RESULTS - 1}) m
   on conflict do nothing`,
  `insert into observation_reference_range
     (organisation_id, facility_id, observation_id, component, position, low_number, low_unit, low_unit_system,
      low_unit_code, high_number, high_unit, high_unit_system, high_unit_code)
   select $1, $2, ${id(5, `n * ${RESULTS} + m`)}, -1, 0, 90.0, 'mmol/L', 'http://unitsofmeasure.org', 'mmol/L', 150.0,
     'mmol/L', 'http://unitsofmeasure.org', 'mmol/L'
   from generate_series(1, ${ORDERS}) n, generate_series(0, ${RESULTS - 1}) m
   on conflict do nothing`,
  `insert into investigation_report
     (organisation_id, facility_id, id, order_id, patient_id, discipline, status, category, code, effective_type,
      effective_start, effective_at, issued_source, issued_at, conclusion, content_digest)
   select $1, $2, ${id(6, 'n')}, ${id(4, 'n')}, ${PATIENT}, 'laboratory', 'final',
     '[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/v2-0074","code":"LAB","display":"Laboratory"}]}]',
     '{"coding":[{"system":"http://loinc.org","code":"24323-8","display":"Comprehensive metabolic 2000 panel - Serum or Plasma"}]}',
     'dateTime', ${TIME_TEXT}, ${TIME}, ${TIME_TEXT}, ${TIME}, 'Within the ranges.', decode(md5(n::text), 'hex')
   from generate_series(1, ${ORDERS}) n
   on conflict do nothing`,
  `insert into investigation_report_result
     (organisation_id, facility_id, report_id, position, observation_id)
   select $1, $2, ${id(6, 'n')}, m, ${id(5, `n * ${RESULTS} + m`)}
   from generate_series(1, ${ORDERS}) n, generate_series(0, ${RESULTS - 1}) m
   on conflict do nothing`,
];
