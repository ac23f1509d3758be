/**
 * The commands of `interchange`, in the order of their help. Each is loaded when it is called, or when all are asked for:
 * to load them all would take longer than most of them run.
 */
import type { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';

type CommandMaker = (environment: CommandEnvironment) => Command;

/** A command, or a group of them. */
interface Entry {
  name: string;
  /** Of a group. */
  description?: string;
  hidden?: true;
  load: () => Promise<readonly CommandMaker[]>;
}

export const COMMANDS: readonly Entry[] = [
  { name: 'serve', load: async () => [(await import('./serve.command.ts')).serveCommand] },
  { name: 'migrate', load: async () => [(await import('./migrate.command.ts')).migrateCommand] },
  { name: 'doctor', load: async () => [(await import('../doctor/doctor.command.ts')).doctorCommand] },
  { name: 'backup', load: async () => [(await import('../backup/backup.command.ts')).backupCommand] },
  { name: 'restore', load: async () => [(await import('../backup/restore.command.ts')).restoreCommand] },
  {
    name: 'scale-out',
    load: async () => [(await import('../scale-out/scale-out.command.ts')).scaleOutCommand],
  },
  { name: 'demo', load: async () => [(await import('./serve.command.ts')).demoCommand] },
  {
    name: 'start',
    hidden: true,
    load: async () => [(await import('./serve.command.ts')).startCommand],
  },
  {
    name: 'organisation',
    description: 'Organisations',
    load: async () =>
      (await import('../../tenancy/organisations/organisation.command.ts')).ORGANISATION_COMMANDS,
  },
  {
    name: 'facility',
    description: 'Facilities of an organisation',
    load: async () => (await import('../../tenancy/organisations/facility.command.ts')).FACILITY_COMMANDS,
  },
  {
    name: 'role',
    description: 'Roles: what accounts may do',
    load: async () => (await import('../../tenancy/roles/role.command.ts')).ROLE_COMMANDS,
  },
  {
    name: 'account',
    description: 'Accounts that sign in',
    load: async () => (await import('../../sign-in/accounts/account.command.ts')).ACCOUNT_COMMANDS,
  },
  {
    name: 'audit',
    description: 'The record of who changed what in the administration',
    load: loadAudit,
  },
  {
    name: 'key',
    description: 'The keys that sign access tokens',
    load: async () => (await import('../../sign-in/keys/signing-key.command.ts')).KEY_COMMANDS,
  },
  {
    name: 'master-key',
    description: 'The key that protects all secrets in the database',
    load: async () => [(await import('../master-key/rotate-master-key.command.ts')).rotateMasterKeyCommand],
  },
  {
    name: 'patient',
    description: 'Patients',
    load: async () => [(await import('../../patients/set-privacy.command.ts')).setPrivacyCommand],
  },
  { name: 'import', load: loadImport },
  {
    name: 'connection',
    description: 'Connections to exchanges',
    load: async () =>
      (await import('../../exchange/connections/manage-connections.command.ts')).CONNECTION_COMMANDS,
  },
  {
    name: 'delivery',
    description: 'Deliveries to exchanges, and what to do with held ones',
    load: loadDelivery,
  },
  {
    name: 'retention',
    description: 'Removal of data that is kept for a limited time',
    load: async () => [(await import('./retention.command.ts')).runRetentionCommand],
  },
  {
    name: 'exchange-simulator',
    load: async () => [
      (await import('../../../tools/exchange-simulator/exchange-simulator.command.ts'))
        .exchangeSimulatorCommand,
    ],
  },
  {
    name: 'fhir-simulator',
    load: async () => [
      (await import('../../../tools/fhir-simulator/fhir-simulator.command.ts')).fhirSimulatorCommand,
    ],
  },
  {
    name: 'access-log',
    description: 'The record of every access to patient data',
    load: async () => [
      (await import('../../privacy/verification/verify-access-log.command.ts')).verifyAccessLogCommand,
      (await import('../../privacy/archive/archive-access-log.command.ts')).archiveAccessLogCommand,
    ],
  },
  {
    name: 'target',
    description: 'FHIR servers to publish to',
    load: async () => (await import('../../publish/servers/manage-targets.command.ts')).TARGET_COMMANDS,
  },
  {
    name: 'terminology',
    description: 'Maps from local to standard codes',
    load: async () => [
      (await import('../../terminology/transfer/import-maps.command.ts')).importMapsCommand,
      (await import('../../terminology/transfer/export-maps.command.ts')).exportMapsCommand,
      (await import('../../terminology/maps/list-maps.command.ts')).listMapsCommand,
      (await import('../../terminology/lookup/translate-code.command.ts')).translateCodeCommand,
      (await import('../../terminology/unmapped/list-unmapped.command.ts')).listUnmappedCommand,
    ],
  },
  {
    name: 'rendered',
    description: 'Records that are kept as finished text, too',
    load: async () => [(await import('./verify-rendered.command.ts')).verifyRenderedCommand],
  },
];

async function loadImport(): Promise<readonly CommandMaker[]> {
  const { importCommand } = await import('../../records/import/import.command.ts');
  const { enqueuePatientChanges } = await import('../../exchange/queue/enqueue-patient-changes.ts');
  const { loadConfig } = await import('../config/config.ts');
  return [
    (environment) =>
      importCommand(environment, {
        onPatientsChanged: enqueuePatientChanges,
        understoodExtensions: () => loadConfig(environment.env).importUnderstoodExtensions,
      }),
  ];
}

async function loadAudit(): Promise<readonly CommandMaker[]> {
  const { auditCommands } = await import('../../tenancy/audit/audit.command.ts');
  const { withSettingsTraced } = await import('../../patients/trace-shown-settings.ts');
  return auditCommands(withSettingsTraced);
}

async function loadDelivery(): Promise<readonly CommandMaker[]> {
  const list = await import('../../exchange/review/list-deliveries.command.ts');
  const review = await import('../../exchange/review/review-deliveries.command.ts');
  const { showDeliveryCommand } = await import('../../exchange/review/show-delivery.command.ts');
  return [
    list.listDeliveriesCommand,
    showDeliveryCommand,
    list.countDeliveriesCommand,
    review.replayDeliveriesCommand,
    review.skipDeliveriesCommand,
  ];
}
