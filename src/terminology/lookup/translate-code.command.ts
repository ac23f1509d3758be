/** `interchange terminology translate`. Contract: TERM-15. */
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { type MapOptions, requireMap } from '../maps/map-command.ts';
import { lookUpCode, translateParameters } from './look-up-code.ts';

interface Options extends MapOptions {
  system: string;
  code: string;
  targetSystem?: string;
}

export function translateCodeCommand(environment: CommandEnvironment): Command {
  return new Command('translate')
    .description('look up a local code as the next fetch will; --json prints FHIR Parameters')
    .requiredOption('--organisation <id>', 'organisation')
    .option(
      '--facility <id>',
      'also use the map of this facility, whose entries win (default: only the map of the organisation)',
    )
    .option('--system <uri>', 'system of the local code, if it has one', '')
    .requiredOption('--code <code>', 'local code')
    .option('--target-system <uri>', 'only codes of this standard system')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange terminology translate --organisation 7f0c… --system http://hospital.example/lab --code HGB',
    )
    .action(async ({ system, code, targetSystem, ...options }: Options) => {
      const answer = await environment.withSession(async ({ db }) =>
        lookUpCode(db, await requireMap(db, options), { system, code, targetSystem }),
      );
      const lines = answer.matches.map(({ equivalence, concept }) =>
        concept === undefined
          ? 'somebody decided that there is no standard code'
          : `${concept.system}|${concept.code} ${concept.display ?? ''}`.trim().concat(` (${equivalence})`),
      );
      environment.print(
        translateParameters(answer),
        lines.join('\n') || 'No terminology map has a standard code for this code.',
      );
    });
}
