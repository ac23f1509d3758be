/** `interchange audit list | export`: who changed what. Contract: ADM-36. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command, Option } from 'commander';
import { type CommandEnvironment, type CommandSession, UsageError } from '../../platform/command/command.ts';
import { requireOrganisation } from '../organisations/facilities.ts';
import { AUDIT_ACTIONS } from './audit-entry.ts';
import { auditFilterOf, type GivenAuditFilter } from './audit-filter.ts';
import {
  AUDIT_FORMATS,
  type AuditFilter,
  type AuditFormat,
  auditItem,
  exportAudit,
  listAuditPage,
  type OnAuditShown,
} from './list-audit.ts';

interface Options extends GivenAuditFilter {
  organisation: string;
}

const LIMIT_AT_MOST = 10_000;

/** Runs `work` with what enters that the operator is shown something of patients in their access logs. */
export type WithAuditTraced = <Result>(
  environment: CommandEnvironment,
  by: { session: CommandSession; organisationId: string },
  work: (onShown: OnAuditShown) => Promise<Result>,
) => Promise<Result>;

export function auditCommands(withTraced: WithAuditTraced) {
  return [
    (environment: CommandEnvironment) => listAuditCommand(environment, withTraced),
    (environment: CommandEnvironment) => exportAuditCommand(environment, withTraced),
  ];
}

function withFilter(command: Command): Command {
  return command
    .requiredOption('--organisation <id>', 'organisation')
    .option('--actor <who>', 'changes by this account, by id or address, or by `operator`')
    .addOption(new Option('--action <action>', 'this action').choices(AUDIT_ACTIONS))
    .option('--subject <what>', 'changes of the account, role or other thing with this id or name')
    .option('--since <time>', 'from this time on: a date (UTC) or a date-time with a zone')
    .option('--until <time>', 'before this time');
}

function filterOf(options: Options): AuditFilter {
  const refuse = (name: string) =>
    new UsageError(`--${name} must be a date or a date-time with a zone, such as 2026-03-01.`);
  return auditFilterOf(options, { timeZone: 'UTC', refuse });
}

function listAuditCommand(environment: CommandEnvironment, withTraced: WithAuditTraced): Command {
  return withFilter(new Command('list'))
    .description('list who changed what in the administration of an organisation, newest first')
    .option('--limit <n>', 'how many at most', '50')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange audit list --organisation 7f0c… --actor operator --since 2026-03-01',
    )
    .action(async ({ limit: most, ...options }: Options & { limit: string }) => {
      const limit = Number(most);
      if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_AT_MOST)
        throw new UsageError(`--limit must be from 1 to ${LIMIT_AT_MOST}.`);
      const filter = filterOf(options);
      const page = await environment.withSession(async (session) => {
        const scope = await requireOrganisation(session.db, options.organisation);
        return withTraced(environment, { session, ...scope }, (onShown) =>
          listAuditPage({ ...session, onShown }, scope, { filter, binding: ['audit'], limit }),
        );
      });
      const items = page.items.map(auditItem);
      const lines = items.map(
        ({ at, actor, action, subject }) =>
          `${at.toISOString()}  ${actor.email ?? actor.id ?? actor.kind}  ${action}  ${subject.name ?? subject.id}`,
      );
      environment.print({ items }, lines.join('\n') || 'none');
    });
}

function exportAuditCommand(environment: CommandEnvironment, withTraced: WithAuditTraced): Command {
  return withFilter(new Command('export'))
    .description('write who changed what to standard output, newest first')
    .addOption(
      new Option('--format <format>', 'file format').choices(Object.keys(AUDIT_FORMATS)).default('csv'),
    )
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange audit export --organisation 7f0c… --format ndjson > audit.ndjson',
    )
    .action(async ({ format, ...options }: Options & { format: AuditFormat }) => {
      if (environment.json) throw new UsageError('An export is no JSON document. Use audit list --json.');
      const filter = filterOf(options);
      await environment.withSession(async (session) => {
        const scope = await requireOrganisation(session.db, options.organisation);
        await withTraced(environment, { session, ...scope }, async (onShown) => {
          const lines = exportAudit({ ...session, onShown }, scope, { filter, format });
          await pipeline(Readable.from(lines, { objectMode: false }), environment.stdout, { end: false });
        });
      });
    });
}
