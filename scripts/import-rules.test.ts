import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { importViolations, repeatedNames } from './import-rules.ts';

function check(sources: Record<string, string>): string[] {
  return importViolations(new Map(Object.entries(sources)));
}

/** One import of `to` by `from`, both existing. */
function imported(from: string, to: string, clause = '{ x }'): string[] {
  const target = `${'../'.repeat(from.split('/').length - 1)}${to}`;
  return check({ [from]: `import ${clause} from '${target}';\n`, [to]: '' });
}

describe('import rules', () => {
  for (const [from, to] of [
    ['src/bin/interchange.ts', 'src/app/commands.ts'],
    ['src/app/routes.ts', 'src/encounters/read-encounter.route.ts'],
    ['src/encounters/read-encounter.ts', 'src/privacy/decide.ts'],
    ['src/encounters/read-encounter.ts', 'src/patients/patient.store.ts'],
    ['src/app/serving/serve.ts', 'local-postgres/embedded-postgres.ts'],
    ['tools/demo/demo-page.ts', 'src/publish/servers/fhir-server.ts'],
    ['src/publish/runs/publish.ts', 'src/terminology/lookup/translate.ts'],
    ['src/tenancy/callers/access.ts', 'src/platform/http/route.ts'],
    ['src/exchange/queue/envelope.ts', 'src/patients/patient.fhir.ts'],
    ['src/records/import/write.ts', 'src/encounters/write-encounter.ts'],
    ['src/encounters/read-encounter.ts', 'src/encounters/vitals/read-vitals.ts'],
    ['src/encounters/encounter.fhir.ts', 'src/fhir/bundle.ts'],
    ['src/encounters/encounter.fhir.ts', 'src/terminology/lookup/code-systems.ts'],
    ['src/encounters/read.route.ts', 'src/platform/http/errors.ts'],
    ['src/patients/set-privacy.command.ts', 'src/platform/command/command.ts'],
    ['src/app/http/health.ts', 'src/platform/http/errors.ts'],
    ['src/app/commands.ts', 'src/platform/command/command.ts'],
    ['src/app/commands/failure-text.ts', 'src/platform/command/command.ts'],
    ['src/platform/command/read-secret.ts', 'src/platform/command/command.ts'],
    ['src/encounters/encounter.test.ts', 'test-support/database/database.ts'],
  ] as const)
    test(`allows ${from} to import ${to} [OPS-21]`, () => assert.deepEqual(imported(from, to), []));

  for (const [from, to, reason] of [
    ['src/platform/db/database.ts', 'src/tenancy/scope.ts', /stands above it/],
    ['src/fhir/bundle.ts', 'src/privacy/decide.ts', /stands above it/],
    ['src/privacy/decide.ts', 'src/encounters/encounter.store.ts', /stands above it/],
    ['src/publish/runs/publish.ts', 'src/investigations/lab/fetch-order.ts', /stands above it/],
    ['src/encounters/read-encounter.ts', 'src/app/config/config.ts', /stands above it/],
    ['src/app/routes.ts', 'src/bin/interchange.ts', /stands above it/],
    ['src/platform/http/route.ts', 'src/fhir/json.ts', /stands above it/],
    ['src/encounters/read-encounter.ts', 'src/investigations/investigation.ts', /have the same rank/],
    ['src/tenancy/callers/access.ts', 'src/privacy/decide.ts', /stands above it/],
    ['local-postgres/postgres-server.ts', 'src/fhir/json.ts', /stands above it/],
    ['tools/demo/demo-page.ts', 'src/app/serving/serve.ts', /stands above it/],
    ['src/patients/patient.store.ts', 'src/exchange/queue/envelope.ts', /stands above it/],
    ['src/exchange/queue/envelope.ts', 'src/encounters/encounter.fhir.ts', /stands above it/],
    ['src/patients/patient.store.ts', 'src/records/import/write.ts', /stands above it/],
    ['src/encounters/read.route.ts', 'src/encounters/encounter.store.ts', /a route calls a use case/],
    ['src/encounters/encounter.store.ts', 'src/encounters/read.route.ts', /a store knows SQL/],
    ['src/encounters/encounter.fhir.ts', 'src/encounters/encounter.store.ts', /a mapper has no/],
    ['src/encounters/encounter.fhir.ts', 'src/platform/db/database.ts', /a mapper has no/],
    ['src/fhir/media-type.ts', 'src/platform/http/errors.ts', /throws an error of/],
    ['src/sign-in/accounts/create-account.ts', 'src/platform/command/command.ts', /throws an error of/],
    ['src/encounters/encounter.store.ts', 'src/platform/http/errors.ts', /throws an error of/],
    ['src/app/backup/back-up.ts', 'src/platform/command/command.ts', /throws an error of/],
    ['src/app/commands/retention.ts', 'src/platform/command/command.ts', /throws an error of/],
    ['src/platform/db/service-role.ts', 'src/platform/command/command.ts', /throws an error of/],
    ['src/encounters/read.route.ts', 'src/platform/command/command.ts', /throws an error of/],
    ['tools/simulator.ts', 'src/platform/command/command.ts', /throws an error of/],
    ['src/app/routes.ts', 'test-support/database/database.ts', /not part of the service/],
    ['src/app/routes.ts', 'scripts/openapi.ts', /not part of the service/],
  ] as const)
    test(`forbids ${from} to import ${to} [OPS-21]`, () => {
      const violations = imported(from, to);
      assert.equal(violations.length, 1);
      assert.match(violations[0] ?? '', reason);
    });

  test('lets routes and mappers import types of a store', () => {
    assert.deepEqual(imported('src/encounters/a.route.ts', 'src/encounters/a.store.ts', 'type { A }'), []);
    assert.deepEqual(
      imported('src/encounters/a.fhir.ts', 'src/encounters/a.store.ts', '{ type A, type B }'),
      [],
    );
    assert.equal(
      imported('src/encounters/a.fhir.ts', 'src/encounters/a.store.ts', '{ type A, b }').length,
      1,
    );
  });

  test('has a command call the use cases of the routes beside it [OPS-21]', () => {
    const room = { 'src/patients/a.store.ts': '', 'src/patients/a.route.ts': '' };
    const command = (file: string, text: string) => check({ ...room, [file]: text });
    const violations = command('src/patients/a.command.ts', "import { a } from './a.store.ts';");
    assert.match(violations.join(), /the use case that the route beside it calls/);
    assert.deepEqual(command('src/patients/a.command.ts', "import type { A } from './a.store.ts';"), []);
    assert.deepEqual(command('src/privacy/b.command.ts', "import { b } from './b.store.ts';"), []);
  });

  test('forbids what takes long to load, but not its types', () => {
    const file = 'src/patients/patient.schema.ts';
    for (const name of ['typebox', 'node:http']) {
      assert.equal(check({ [file]: `import Type, { type A } from '${name}';` }).length, 1);
      assert.deepEqual(check({ [file]: `import type { A } from '${name}';` }), []);
    }
  });

  test('keeps ranks for types too', () => {
    assert.equal(imported('src/platform/a.ts', 'src/app/b.ts', 'type { B }').length, 1);
  });

  test('sees every way to import', () => {
    const ways = [
      "export { x } from '../app/b.ts';",
      "export * from '../app/b.ts';",
      "import '../app/b.ts';",
      "const b = await import('../app/b.ts');",
      "import {\n  x,\n  y,\n} from '../app/b.ts';",
      "import b from '../app/b.ts';",
      "import * as b from '../app/b.ts';",
    ];
    for (const way of ways)
      assert.equal(check({ 'src/platform/a.ts': way, 'src/app/b.ts': '' }).length, 1, way);
  });

  test('leaves comments alone', () => {
    const text = "/* import { x } from '../app/b.ts'; */\n// import { x } from '../app/b.ts';\n";
    assert.deepEqual(check({ 'src/platform/a.ts': text }), []);
  });

  test('keeps clock and I/O out of mappers [OPS-21]', () => {
    for (const text of [
      'const now = Date.now();',
      'const now = new Date();',
      'const now = Temporal.Now.instant();',
      "import { readFileSync } from 'node:fs';",
      "import pg from 'pg';",
    ])
      assert.equal(check({ 'src/encounters/encounter.fhir.ts': text }).length, 1, text);
    assert.deepEqual(check({ 'src/encounters/encounter.fhir.ts': 'const day = new Date(text);' }), []);
  });

  test('keeps clock and I/O out of what mappers import, however far away', () => {
    const violations = check({
      'src/encounters/encounter.fhir.ts': "import { b } from '../fhir/b.ts';",
      'src/fhir/b.ts': "import { c } from './c.ts';\nimport type { Pool } from '../platform/db/database.ts';",
      'src/fhir/c.ts': 'export const c = () => Date.now();',
    });
    assert.equal(violations.length, 1);
    assert.match(
      violations[0] ?? '',
      /encounter\.fhir\.ts → src\/fhir\/b\.ts → src\/fhir\/c\.ts: reads the clock/,
    );
  });

  test('finds cycles, also of types', () => {
    const violations = check({
      'src/fhir/a.ts': "import { b } from './b.ts';",
      'src/fhir/b.ts': "import { c } from './c.ts';",
      'src/fhir/c.ts': "import type { A } from './a.ts';",
    });
    assert.deepEqual(violations, ['Cycle: src/fhir/a.ts → src/fhir/b.ts → src/fhir/c.ts → src/fhir/a.ts']);
  });

  test('asks for the rank of a new folder', () => {
    assert.match(check({ 'src/billing/a.ts': '' })[0] ?? '', /has no rank/);
  });
});

test('a name that two files export is named; a constant and its type are one idea [OPS-21]', () => {
  const named = (sources: Record<string, string>) => repeatedNames(new Map(Object.entries(sources)));
  const first = 'export const Place = 1;\nexport type Place = number;\n';
  assert.deepEqual(
    named({ 'src/a.ts': first, 'src/b.ts': 'interface Place {}\nimport { Place } from "./a.ts";' }),
    [],
  );
  for (const again of [
    'export interface Place {}',
    'export async function Place() {}',
    'export abstract class Place {}',
  ])
    assert.deepEqual(named({ 'src/a.ts': first, 'src/b.ts': again }), [
      'Place: is exported by src/a.ts and src/b.ts. Give each idea a name of its own.',
    ]);
  const french = {
    'src/a/errors.fr.ts': 'export const french = {};',
    'src/b/errors.fr.ts': 'export const french = {};',
  };
  assert.deepEqual(named(french), []);
  assert.deepEqual(named({ 'src/a.ts': first, 'src/a.test.ts': first }), []);
});
