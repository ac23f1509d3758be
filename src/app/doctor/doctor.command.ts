/** `interchange doctor`. Contract: CMD-24. */
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { examine } from './examine.ts';
import { type CheckOutcome, counted, type Finding } from './finding.ts';

export function doctorCommand(environment: CommandEnvironment): Command {
  return new Command('doctor')
    .description('check the settings, the database and the service, and say what to do')
    .option('--strict', 'end with 1 for warnings, too')
    .addHelpText(
      'after',
      `
It changes nothing, and works while the service runs and while it does not. Run it with the environment of the service.
Exit code: 0 nothing failed (there may be warnings), 1 a check failed.

Examples:
  npx interchange doctor
  npx interchange doctor --strict --json`,
    )
    .action(async ({ strict = false }: { strict?: boolean }) => {
      const { findings, processes } = await examine(environment.env, environment.now);
      const outcome = worst(findings);
      environment.print({ outcome, findings, processes }, text(findings, processes));
      if (outcome === 'failed' || (strict && outcome === 'warning'))
        environment.fail('Not everything is in order. The output says what to do.');
    });
}

function worst(findings: readonly Finding[]): CheckOutcome {
  const has = (outcome: CheckOutcome) => findings.some((finding) => finding.outcome === outcome);
  if (has('failed')) return 'failed';
  return has('warning') ? 'warning' : 'ok';
}

function text(findings: readonly Finding[], processes: number | null): string {
  const indent = ' '.repeat(31);
  const lines = findings.flatMap(({ check, outcome, text: said, remedy }) => [
    `${outcome.padEnd(16)}${check.padEnd(15)}${said}`,
    ...(remedy === undefined ? [] : [`${indent}What to do: ${remedy}`]),
  ]);
  const count = (outcome: CheckOutcome) => findings.filter((finding) => finding.outcome === outcome).length;
  return [
    ...lines,
    '',
    `${count('failed')} failed, ${counted(count('warning'), 'warning')}, ${count('ok')} ok.${processes === 0 ? ' The service does not run.' : ''}`,
  ].join('\n');
}
