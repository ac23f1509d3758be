/** npm run soak: `--help` says what it takes, docs/soak.md what it checks. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeDataDir, openHere } from '../test-support/database/embedded.ts';
import { runProcess } from '../test-support/service/command.ts';
import { freePort } from '../test-support/service/free-port.ts';
import { createClient } from './client.ts';
import { publishAll } from './flows/publish-records.ts';
import { createLedger, type Finding, isGood } from './ledger.ts';
import { HELP, OptionError, type Options, readOptions } from './options.ts';
import { type Supervised, supervise } from './processes.ts';
import { createRandom } from './random.ts';
import { findingTable, flowTable } from './report.ts';
import { runFlows } from './run-flows.ts';
import { CLIENT_ID, loadPatients, setUpOrganisation } from './set-up.ts';
import { settle, verify } from './verify.ts';
import { startSurroundings, type World } from './world.ts';

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const length = `${options.minutes} ${options.minutes === 1 ? 'minute' : 'minutes'}`;
  say(`soak of ${length}; to have it again: --seed ${options.seed} --minutes ${options.minutes}`);
  const data = await makeDataDir();
  process.once('exit', () => quitServer(data.path));
  const logs = join(dirname(data.path), 'logs');
  await mkdir(logs, { recursive: true });
  let good = false;
  try {
    good = await soak(options, { dataDir: data.path, logs });
    return good ? 0 : 1;
  } finally {
    if (options.keep || !good)
      say(`\nThe database and the logs of the processes are in ${dirname(data.path)}`);
    else await data.remove();
  }
}

async function soak(
  { seed, minutes, patients: count }: Options,
  { dataDir, logs }: { dataDir: string; logs: string },
): Promise<boolean> {
  await using stack = new AsyncDisposableStack();
  const ledger = createLedger();
  const shared = { ledger, unconfirmed: [] as World['unconfirmed'], calm: true, stopping: false };
  onSignal(dirname(dataDir), () => {
    say('ending early, in order; a second Ctrl-C ends at once');
    shared.stopping = true;
  });
  say('setting up');
  const postgres = await openHere(dataDir);
  stack.defer(() => postgres.release());
  const { exchange, fhirServer } = await startSurroundings(shared, seed);
  stack.defer(async () => void (await Promise.all([exchange.close(), fhirServer.stop()])));
  const env = serviceEnvironment(postgres.url, await freePort());
  const organisation = await setUpOrganisation(env, { exchange: exchange.url, fhirServer: fhirServer.base });
  const [ofFlows, credentials] = organisation.accounts;
  exchange.trust = { clientId: CLIENT_ID, secrets: [organisation.outboundSecret] };
  const api = supervise('api', ['serve', '--role', 'api', '--processes', '2'], { env, folder: logs });
  const worker = supervise('worker', ['serve', '--role', 'worker'], { env, folder: logs });
  stack.defer(async () => void (await Promise.all([api.abandon(), worker.abandon()])));
  const client = createClient(`http://127.0.0.1:${env.PORT}/api/v1`, ledger, ofFlows);
  const patients = await loadPatients(client, count);
  for (const { number } of patients) ledger.rounds.set(number, 1);
  const world: World = Object.assign(shared, {
    ...organisation,
    client,
    patients,
    fhirServer,
    random: (name: string) => createRandom(seed, name),
  });
  const databaseUrl = postgres.url;
  say('all flows run');
  const memory = await runFlows(world, {
    minutes,
    credentials,
    api,
    worker,
    dataDir,
    logs,
    databaseUrl,
    say,
  });
  say('settling');
  await publishAll(world);
  const left = await settle(databaseUrl);
  const findings = [
    ...(await verify(world, databaseUrl)),
    { what: 'deliveries waiting or held in the end', expected: 0, found: left, lost: 0, wrong: left },
    ...(await end(env, [api, worker])),
  ];
  return report(world, findings, memory);
}

function serviceEnvironment(databaseUrl: string, port: number): Record<string, string> {
  const retrySeconds = Array.from({ length: 40 }, (_, index) => Math.min(5, 0.2 * (index + 1)).toFixed(1));
  return {
    DATABASE_URL: databaseUrl,
    MASTER_KEY: randomBytes(32).toString('hex'),
    PORT: String(port),
    LOG_LEVEL: 'warn',
    NODE_OPTIONS: `--import ${new URL('collect-garbage.ts', import.meta.url).href}`,
    DRAIN_SECONDS: '0',
    // A try that was killed counts like a wrong password.
    SIGN_IN_LOCK_FAILURES: '100',
    DELIVERY_RETRY_SECONDS: retrySeconds.join(),
    DELIVERY_LEASE_SECONDS: '5',
    DELIVERY_PROBE_SECONDS: '1',
    DELIVERY_MAX_PROBE_SECONDS: '2',
  };
}

/** Stop the service as an operator does, then look at what it left. */
async function end(env: Record<string, string>, services: readonly Supervised[]): Promise<Finding[]> {
  const codes = await Promise.all(services.map((service) => service.stop()));
  const bad = codes.filter((code) => code !== 0).length;
  const surprises = services.flatMap((service) => service.surprises);
  for (const surprise of new Set(surprises)) say(`unforeseen: ${surprise}`);
  const { code, stdout, stderr } = await runProcess(['access-log', 'verify', '--json'], { env });
  if (code !== 0) say(`interchange access-log verify: ${stdout}${stderr}`);
  const { entries = 0 } = code === 0 ? (JSON.parse(stdout) as { entries?: number }) : {};
  return [
    {
      what: 'processes stopped in good order',
      expected: codes.length,
      found: codes.length - bad,
      lost: 0,
      wrong: bad,
    },
    {
      what: 'unforeseen errors in the log',
      expected: 0,
      found: surprises.length,
      lost: 0,
      wrong: surprises.length,
    },
    {
      what: 'entries in chains of the access log that verify',
      expected: entries,
      found: entries,
      lost: 0,
      wrong: code === 0 ? 0 : 1,
    },
  ];
}

function report(
  { ledger }: World,
  findings: readonly Finding[],
  memory: readonly Finding[] | undefined,
): boolean {
  const { faults } = ledger;
  const all = [
    ...findings,
    ...(memory ?? []),
    {
      what: 'answers that no outage explains',
      expected: 0,
      found: faults.length,
      lost: 0,
      wrong: faults.length,
    },
  ];
  say(`\n${flowTable(ledger.flows)}\n\n${findingTable(all)}`);
  for (const fault of new Set(faults)) say(`fault: ${fault}`);
  const good = all.every(isGood);
  say(`\n${verdict(good, memory !== undefined)}`);
  return good;
}

function verdict(good: boolean, withMemory: boolean): string {
  if (!good) return 'The soak found faults.';
  return withMemory
    ? 'Nothing was lost, nothing came out of order, memory is flat.'
    : 'Nothing was lost, and nothing came out of order. The soak ended early, so memory was not measured.';
}

/** The first signal ends the flows, and what there is is looked at. A second one ends the program. */
function onSignal(folder: string, end: () => void): void {
  let isFirst = true;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (!isFirst) {
        say(`\nThe database and the logs of the processes are in ${folder}`);
        process.exit(1);
      }
      isFirst = false;
      end();
    });
}

/** After a second signal nothing else stops PostgreSQL, which is in a session of its own. */
function quitServer(dataDir: string): void {
  const path = join(dataDir, 'postgresql', 'postmaster.pid');
  if (existsSync(path)) process.kill(Number.parseInt(readFileSync(path, 'utf8'), 10), 'SIGQUIT');
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  if (!(error instanceof OptionError)) return 1;
  process.stderr.write('(run npm run soak -- --help to see the options)\n');
  return 2;
});
