/** An organisation with everything that the flows need, made by commands; and its first records. */

import { PERMISSIONS } from '../src/tenancy/roles/permissions.ts';
import { runJson } from '../test-support/service/command.ts';
import type { Client, Credentials } from './client.ts';
import { importLines } from './flows/change-patients.ts';
import { bundleAt, identifierOf, makePatient, type SourcePatient } from './records.ts';
import type { KnownPatient } from './world.ts';

export interface Organisation {
  /** One for the flows, one for those who sign in and out. */
  accounts: [Credentials, Credentials];
  connectionId: string;
  outboundSecret: string;
  callbackSecret: string;
}

/** Of the exchange, as the service calls itself there. */
export const CLIENT_ID = 'soak';

export async function setUpOrganisation(
  env: Record<string, string>,
  addresses: { exchange: string; fhirServer: string },
): Promise<Organisation> {
  const make = (...args: string[]) => runJson(args, { env });
  await make('migrate');
  const { id: organisation = '' } = await make('organisation', 'create', '--name', 'Soak');
  const within = ['--organisation', organisation];
  const { id: facility = '' } = await make('facility', 'create', ...within, '--name', 'Clinic');
  const permissions = Object.keys(PERMISSIONS).join();
  await make('role', 'create', ...within, '--name', 'all', '--permissions', permissions);
  const account = async (email: string): Promise<Credentials> => {
    const place = [...within, '--facility', facility, '--role', 'all'];
    const { userId = '', password = '' } = await make('account', 'create', ...place, '--email', email);
    return { identity: userId, credential: password };
  };
  const accounts: [Credentials, Credentials] = [
    await account('flows@example.org'),
    await account('in-out@example.org'),
  ];
  const there = ['--address', addresses.exchange, '--client-id', CLIENT_ID, '--timeout-ms', '2000'];
  const connection = await make('connection', 'create', ...within, '--name', 'Exchange', ...there);
  const server = [
    '--name',
    'server',
    '--base',
    addresses.fhirServer,
    '--auth',
    'none',
    '--id-policy',
    'server',
  ];
  await make('target', 'create', ...server, '--default');
  return {
    accounts,
    connectionId: connection.id ?? '',
    outboundSecret: connection.outboundSecret ?? '',
    callbackSecret: connection.callbackSecret ?? '',
  };
}

/** Import the records of so many patients, and find the ids that the service gave them. */
export async function loadPatients(client: Client, count: number): Promise<KnownPatient[]> {
  const sources = Array.from({ length: count }, (_, index) => makePatient(index + 1));
  for (let start = 0; start < count; start += 20)
    await importLines(
      { client },
      sources.slice(start, start + 20).map((source) => JSON.stringify(bundleAt(source, 1))),
    );
  const known: KnownPatient[] = [];
  for (const source of sources) known.push(await find(client, source));
  return known;
}

async function find(client: Client, source: SourcePatient): Promise<KnownPatient> {
  const read = async (path: string) =>
    (await client.insist('set-up', path, { token: await client.token() })).json;
  const { items } = await read(`/patients/base?search=${identifierOf(source.number)}`);
  const id = String(items[0].id);
  const [lab, imaging, vitals, encounters] = await Promise.all([
    read(`/investigations/lab/orders?patient=${id}`),
    read(`/investigations/imaging/orders?patient=${id}`),
    read(`/encounters/vitals?patient=${id}`),
    read(`/encounters/fhir/Encounter?patient=${id}&purposeOfUse=TREATMENT`),
  ]);
  return {
    ...source,
    id,
    labOrderId: String(lab.items[0].orderId),
    imagingOrderId: String(imaging.items[0].orderId),
    vitalSetId: String(vitals.items[0].vitalSetId),
    encounterId: String(encounters.entry[0].resource.id),
  };
}
