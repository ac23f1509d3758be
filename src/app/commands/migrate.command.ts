/** `interchange migrate`. Contract: CMD-16, OPS-35. */
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { missingMigrations, SERVICE_ROLE, withClient } from '../../platform/db/migrate.ts';
import { findRoleFault, type RoleFault } from '../../platform/db/service-role.ts';
import { loadConfig } from '../config/config.ts';
import { openKeys, updateSchema, withDatabase } from '../runtime/open-database.ts';
import { placedMigrations } from '../scale-out/placed-migrations.ts';

export function migrateCommand(environment: CommandEnvironment): Command {
  return new Command('migrate')
    .description('update the database schema to this version')
    .option('--dry-run', 'list the migrations that would be applied, and apply none')
    .addHelpText(
      'after',
      '\nExample:\n  DATABASE_URL=postgres://localhost/interchange MASTER_KEY_FILE=master.key npx interchange migrate',
    )
    .action(async ({ dryRun }: { dryRun?: boolean }) => {
      const config = loadConfig(environment.env);
      await withDatabase(config, async (opened) => {
        const fault = await withClient(opened.url, findRoleFault);
        const applied =
          dryRun === true
            ? await withClient(opened.url, missingMigrations)
            : await updateSchema(opened.url, placedMigrations());
        // The database belongs to this master key from the first migration on.
        if (dryRun !== true) await (await openKeys(opened, config)).keys.close();
        const verb = dryRun === true ? 'Would apply' : 'Applied';
        const lines = [
          applied.length === 0
            ? 'The schema is current.'
            : `${verb} ${applied.length}:\n  ${applied.join('\n  ')}`,
          ...(fault === undefined ? [] : [roleText(fault, dryRun === true)]),
        ];
        environment.print({ applied, dryRun: dryRun === true, role: fault ?? 'good' }, lines.join('\n'));
      });
    });
}

function roleText(fault: RoleFault, dryRun: boolean): string {
  const made = fault === 'missing';
  const was = dryRun ? `Would ${made ? 'make' : 'mend'}` : made ? 'Made' : 'Mended';
  const reason = { missing: 'was missing', 'not usable': 'could not be used', 'no rights': 'had no rights' };
  return `${was} the database role ${SERVICE_ROLE}, which ${reason[fault]}.`;
}
