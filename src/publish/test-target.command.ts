/** `interchange target test` */
import type { Command } from 'commander';
import type { CommandEnvironment } from '../platform/command/command.ts';
import { createFhirServer } from './fhir-server.ts';
import { secretOf } from './live-targets.ts';
import { requireTarget } from './manage-targets.ts';
import { checkCapabilities, type TargetCheck } from './read-capabilities.ts';
import { type NameOptions, namedCommand, nameOf } from './target-options.ts';

export function testTargetCommand(environment: CommandEnvironment): Command {
  return namedCommand('test', 'read /metadata of a target and say what that means for its policies')
    .addHelpText(
      'after',
      '\nSends no patient data. Exit 1 when publishing cannot work.\n\nExample:\n  npx interchange target test --name national',
    )
    .action(async (options: NameOptions) => {
      const { target, secret } = await environment.withSession(async ({ db, keys }) => {
        const target = await requireTarget(db, nameOf(options));
        return { target, secret: await secretOf(keys, target) };
      });
      const server = createFhirServer(target, secret);
      const answer = await server.send({ method: 'GET', path: 'metadata' });
      server.close();
      const check = checkCapabilities(answer, target);
      const { name, base, idPolicy, referencePolicy } = target;
      environment.print(
        { name, base, idPolicy, references: referencePolicy, ...check },
        checkText(name, check),
      );
      if (!check.ok) process.exitCode = 1;
    });
}

function checkText(name: string, { ok, fhirVersion, software, types, faults, advice }: TargetCheck): string {
  const lines = [`${name}: ${ok ? 'publishing can work' : 'publishing cannot work as it is configured'}`];
  if (fhirVersion !== null) lines.push(`  FHIR ${fhirVersion}${software === null ? '' : `, ${software}`}`);
  for (const one of types) {
    const can = Object.entries(one).flatMap(([name, value]) => (value === true ? [name] : []));
    lines.push(`  ${one.type.padEnd(17)} ${can.join(' ') || 'nothing'}`);
  }
  for (const fault of faults) lines.push(`  fault   ${fault}`);
  for (const hint of advice) lines.push(`  advice  ${hint}`);
  return lines.join('\n');
}
