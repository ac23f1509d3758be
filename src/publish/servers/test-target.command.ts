/** `interchange target test`. Contract: PUB-53. */
import type { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { createFhirClient, type FhirClient } from '../send/fhir-client.ts';
import type { FhirServer } from './fhir-server.ts';
import { secretOf } from './live-fhir-servers.ts';
import { requireFhirServer } from './manage-fhir-servers.ts';
import { type Probe, probeFhirServer, probeResource } from './probe-fhir-server.ts';
import { checkCapabilities, type FhirServerCheck } from './read-capabilities.ts';
import { type NameOptions, namedCommand, serverNameOf } from './target-options.ts';

const HELP = `
Sends no patient data. Exit 1 when publishing cannot work.
What the server does not declare is advice; --probe shows whether it works. The probe goes as a publish would, says
before what it writes, and removes it, also when a step fails.

Examples:
  npx interchange target test --name national
  npx interchange target test --name national --probe`;

export function testTargetCommand(environment: CommandEnvironment): Command {
  return namedCommand('test', 'check from /metadata of a target whether publishing can work')
    .option(
      '--probe',
      'also write, read and remove a test Observation, without a patient and marked as entered in error',
    )
    .addHelpText('after', HELP)
    .action(async (options: NameOptions & { probe?: true }) => {
      const { server, secret } = await environment.withSession(async ({ db, keys }) => {
        const server = await requireFhirServer(db, serverNameOf(options));
        return { server, secret: await secretOf(keys, server) };
      });
      const client = createFhirClient(server, secret);
      const answer = await client.send({ method: 'GET', path: 'metadata' });
      const read = checkCapabilities(answer, server);
      // A server that is none, or that does not let us in, is not written to.
      const isProbed = options.probe === true && read.types.length > 0;
      const probe = isProbed ? await announcedProbe(environment, client, server) : undefined;
      client.close();
      const check = probe === undefined ? read : checkCapabilities(answer, server, probe);
      const { name, base, idPolicy, referencePolicy } = server;
      const document = { name, base, idPolicy, references: referencePolicy, ...check };
      environment.print(
        options.probe === true ? { ...document, probe: shownProbe(probe) } : document,
        checkText(name, check, probe),
      );
      if (!check.ok) environment.fail('Publishing cannot work yet. The output says why.');
    });
}

/** On stderr, so that the document on stdout stays one. */
function announcedProbe(
  { stderr }: CommandEnvironment,
  client: FhirClient,
  server: FhirServer,
): Promise<Probe> {
  const resource = probeResource(server);
  stderr.write(
    `This is about to be written to ${server.base}, written again, read and removed:\n${JSON.stringify(resource)}\n`,
  );
  return probeFhirServer(client, server, resource);
}

/** Faults and advice stand among those of the server. */
function shownProbe(probe: Probe | undefined): object | null {
  if (probe === undefined) return null;
  const { resource, steps, removed } = probe;
  return { resource, steps, removed };
}

function checkText(
  name: string,
  { ok, fhirVersion, software, types, faults, advice }: FhirServerCheck,
  probe: Probe | undefined,
): string {
  const lines = [`${name}: ${ok ? 'publishing can work' : 'publishing cannot work as it is configured'}`];
  if (fhirVersion !== null) lines.push(`  FHIR ${fhirVersion}${software === null ? '' : `, ${software}`}`);
  for (const one of types) {
    const can = Object.entries(one).flatMap(([name, value]) => (value === true ? [name] : []));
    lines.push(`  ${one.type.padEnd(17)} ${can.join(' ') || 'nothing'}`);
  }
  for (const { step, path, done } of probe?.steps ?? [])
    lines.push(`  probe   ${step} ${path}: ${done ? 'done' : 'failed'}`);
  for (const fault of faults) lines.push(`  fault   ${fault}`);
  for (const hint of advice) lines.push(`  advice  ${hint}`);
  return lines.join('\n');
}
