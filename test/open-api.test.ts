/** The OpenAPI document: valid by its own schema, complete, and true of what is answered. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { querySchemaOf } from '../src/app/http/register-route.ts';
import { fhirFaults } from '../test-support/fhir/fhir-validator.ts';
import { createSchemaReader } from '../test-support/http/schema-examples.ts';
import { type Json, useEmptyApi } from '../test-support/service/api.ts';

const MAX_BYTES = 250_000;

const api = await useEmptyApi();
const document = (await api.call('/docs/json')).json;
const read = createSchemaReader(document);

/** Every operation with its method and path, and with its own body and answers, wherever they stand. */
function operations(): { where: string; path: string; method: string; operation: Json }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item as Json).map(([method, operation]) => ({
      where: `${method} ${path}`,
      path,
      method,
      operation: resolved(operation as Json),
    })),
  );
}

function resolved({ requestBody, responses, ...operation }: Json): Json {
  return {
    ...operation,
    ...(requestBody === undefined ? {} : { requestBody: read.resolve(requestBody) }),
    responses: Object.fromEntries(
      Object.entries(responses as Json).map(([status, response]) => [status, read.resolve(response as Json)]),
    ),
  };
}

/** Calls that send something and take no body. */
const WITHOUT_BODY =
  /\/(publish-fhir|enable|disable|unlock|remove-second-factor|activate-secret|logout|test|session\/passkey-options)$/;

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1 [HTTP-25]', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    assert.deepEqual({ valid, errors }, { valid: true, errors: undefined });
  });

  test('has requests whose schemas are JSON Schema, which no start checks', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const { method, path, route } of api.api.routes)
      for (const schema of [querySchemaOf(route), route.schemas.params, route.schemas.body])
        assert.ok(
          schema === undefined || ajv.validateSchema(schema),
          `${method} ${path}: ${ajv.errorsText()}`,
        );
  });

  test('has every route once, with a name of its own and a declared tag [HTTP-25]', () => {
    const below = [...api.api.routes, ...api.api.consoleRoutes].filter(({ path }) =>
      /^\/(api\/v1|console\/api)\//.test(path),
    );
    const documented = operations();
    assert.equal(documented.length, below.length);
    const names = documented.map(({ operation }) => operation.operationId);
    assert.equal(new Set(names).size, names.length);
    const tags = new Set(document.tags.map(({ name }: Json) => name));
    for (const { where, operation } of documented)
      assert.ok(operation.tags.every((tag: string) => tags.has(tag)) && operation.tags.length === 1, where);
    assert.deepEqual(
      [...tags].sort(),
      [...new Set(documented.map(({ operation }) => operation.tags[0]))].sort(),
    );
    assert.equal(document.info.license.identifier, 'Apache-2.0');
    assert.ok(document.info.contact.name);
  });

  test('lets generated clients send the body of each call that takes one', () => {
    const bodies = Object.fromEntries(
      operations()
        .filter(({ operation }) => operation.requestBody !== undefined)
        .map(({ operation }) => [operation.operationId, Object.keys(operation.requestBody.content)]),
    );
    assert.deepEqual(bodies.searchEncountersByForm, ['application/x-www-form-urlencoded']);
    assert.deepEqual(bodies.confirmDelivery, ['application/json']);
    assert.deepEqual(bodies.importTerminologyMaps, ['text/csv', 'application/fhir+json', 'application/json']);
    assert.ok(bodies.importRecords?.includes('application/fhir+ndjson'));
    for (const { where, method, operation } of operations())
      if (['post', 'put', 'patch'].includes(method)) {
        const without = WITHOUT_BODY.test(where);
        assert.equal(operation.requestBody === undefined, without, where);
      }
    const form = operations().find(({ operation }) => operation.operationId === 'searchEncountersByForm');
    const schema = read.resolve(
      form?.operation.requestBody.content['application/x-www-form-urlencoded'].schema,
    );
    assert.deepEqual([...schema.required].sort(), ['patient', 'purposeOfUse']);
  });

  test('gives every id in a path the format uuid, and facility headers to every call of a facility', () => {
    for (const { where, operation } of operations()) {
      const parameters: Json[] = operation.parameters.map(read.resolve);
      for (const parameter of parameters.filter((one) => one.in === 'path'))
        assert.equal(parameter.schema.format, 'uuid', `${where} ${parameter.name}`);
      const headers = parameters.filter((one) => one.in === 'header').map(({ name }) => name);
      const ofFacility = 'x-facility-id x-org-id'.split(' ').every((name) => headers.includes(name));
      assert.equal(ofFacility, operation.description?.includes('Permission:') ?? false, where);
      assert.equal(headers.includes('if-none-match'), '304' in operation.responses, where);
      const hasQuery = parameters.some((one) => one.in === 'query') || where.endsWith('/_search');
      assert.equal(headers.includes('prefer'), hasQuery, where);
    }
  });

  test('names each module that a call needs', () => {
    const publish = operations().filter(({ where }) => where.includes('/publish-fhir'));
    assert.equal(publish.length, 6);
    for (const { where, operation } of publish)
      assert.match(operation.description, /Modules: `(lab|imaging|vitals)` and `publish`\./, where);
  });

  test('gives every id in a body the format uuid', () => {
    const names =
      /^(localId|orderId|vitalSetId|(patient|encounter|facility|organisation|connection|delivery|map|user|account)Id|(updated|changed)By)$/;
    const ids = everyProperty({ ...document, components: { ...document.components, examples: {} } }).filter(
      ({ name, schema }) => names.test(name) && [schema.type].flat().includes('string'),
    );
    const bare = ids.filter(({ schema }) => schema.format !== 'uuid').map(({ where }) => where);
    assert.deepEqual(bare, []);
    assert.ok(ids.length > 30, `${ids.length} ids`);
  });

  test('gives every instant of an answer the format date-time', () => {
    /** A body that is sent: the first is checked by its call, the second is not read. */
    const sent = /SecretRotation.*activateAt|MapEntryToPut.*updatedAt/;
    const instants = everyProperty({
      ...document,
      components: { ...document.components, examples: {} },
    }).filter(
      ({ name, schema, where }) =>
        /[a-z](At|Since|Until|From)$|^(at|lastUpdated)$/.test(name) &&
        [schema.type].flat().includes('string') &&
        !sent.test(where),
    );
    const bare = instants.filter(({ schema }) => schema.format !== 'date-time').map(({ where }) => where);
    assert.deepEqual(bare, []);
    assert.ok(instants.length > 30, `${instants.length} instants`);
  });

  test('has an example of each body that is sent', () => {
    for (const { where, operation } of operations()) {
      const [first] = Object.values((operation.requestBody?.content ?? {}) as Record<string, Json>);
      if (first !== undefined) assert.ok(first.example !== undefined, where);
    }
  });

  test('has an example of the answer of each operation that succeeds', () => {
    for (const { where, operation } of operations()) {
      const status = Object.keys(operation.responses).find((one) => one.startsWith('2')) ?? '';
      const contents = Object.values((operation.responses[status]?.content ?? {}) as Record<string, Json>);
      assert.ok(contents.length > 0 || status === '204', `${where}: ${status}`);
      for (const content of contents) assert.notEqual(examplesOf(content).length, 0, where);
    }
  });

  test('has examples that their own schemas take, and with members that these schemas have', () => {
    const ajv = new Ajv2020({ strict: false });
    ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/);
    ajv.addFormat('binary', true);
    ajv.addSchema(document, 'document');
    let count = 0;
    for (const { keys, content } of everyContent())
      for (const example of examplesOf(content)) {
        const parts = keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')));
        const check = ajv.compile({ $ref: `document#/${parts.join('/')}/schema` });
        assert.ok(check(example), `${keys.join(' ')}: ${ajv.errorsText(check.errors)}`);
        assert.deepEqual(unknownMembers(content.schema, example), [], keys.join(' '));
        count += 1;
      }
    assert.ok(count > 150, `${count} examples`);
  });

  test('shows FHIR that is valid', () => {
    const shown = new Map<string, Json>();
    const look = (value: Json): void => {
      if (value === null || typeof value !== 'object') return;
      if (typeof value.resourceType === 'string' && 'id' in value) shown.set(JSON.stringify(value), value);
      for (const inner of Object.values(value)) look(inner);
    };
    for (const { content } of everyContent()) for (const example of examplesOf(content)) look(example);
    const resources = [...shown.values()].filter(
      ({ resourceType, localId, action, status, meta }) =>
        localId === undefined &&
        action === undefined &&
        resourceType !== undefined &&
        (status ?? meta) !== undefined,
    );
    const types = new Set(resources.map(({ resourceType }) => resourceType));
    for (const type of [
      'Patient',
      'Encounter',
      'ServiceRequest',
      'Observation',
      'DiagnosticReport',
      'ImagingStudy',
    ])
      assert.ok(types.has(type), type);
    for (const resource of resources) assert.deepEqual(fhirFaults(resource), [], resource.resourceType);
  });

  /** Every content of the document, with the keys that lead to it. */
  function everyContent(): { keys: string[]; content: Json }[] {
    const found: { keys: string[]; content: Json }[] = [];
    const look = (value: Json, keys: string[]): void => {
      if (value === null || typeof value !== 'object') return;
      for (const [key, inner] of Object.entries(value))
        if (key === 'content')
          for (const [type, content] of Object.entries(inner as Json))
            found.push({ keys: [...keys, key, type], content: content as Json });
        else look(inner as Json, [...keys, key]);
    };
    const { responses, requestBodies } = document.components;
    look({ paths: document.paths, components: { responses, requestBodies } }, []);
    return found;
  }

  /** Members of every schema inside a value, however deep. */
  function everyProperty(value: Json, where = ''): { name: string; schema: Json; where: string }[] {
    if (value === null || typeof value !== 'object') return [];
    const own = Object.entries((value.properties ?? {}) as Record<string, Json>);
    const inside = Object.entries(value as Record<string, Json>);
    return [
      ...own.map(([name, schema]) => ({ name, schema, where: `${where}/${name}` })),
      ...inside.flatMap(([key, inner]) => everyProperty(inner, `${where}/${key}`)),
    ];
  }

  /** Those of a content itself, else the one that readers of the document put together from its schema. */
  function examplesOf({ schema, example, examples = {} }: Json): Json[] {
    const own = Object.values(examples as Record<string, Json>).map((one) => one.value);
    if (example !== undefined) own.push(example);
    return own.length > 0 ? own : [read.exampleOf(schema)].filter((one) => one !== undefined);
  }

  /** Paths of members that no schema names. Resources are open: FHIR says what is in them. */
  function unknownMembers(given: Json, value: Json, path = ''): string[] {
    const schema = read.whole(given ?? {});
    if (Array.isArray(value)) return value.flatMap((one) => unknownMembers(schema.items, one, `${path}/0`));
    if (value === null || typeof value !== 'object' || 'resourceType' in (schema.properties ?? {})) return [];
    if (schema.anyOf !== undefined)
      return schema.anyOf
        .map((one: Json) => unknownMembers(one, value, path))
        .sort((a: string[], b: string[]) => a.length - b.length)[0];
    if (schema.properties === undefined || schema.additionalProperties === true) return [];
    return Object.entries(value).flatMap(([name, inner]) =>
      name in schema.properties
        ? unknownMembers(schema.properties[name], inner as Json, `${path}/${name}`)
        : [`${path}/${name}`],
    );
  }

  test('names every object of a body, so that generated clients have a type for it [HTTP-32]', () => {
    for (const { keys, content } of everyContent())
      assert.ok('$ref' in content.schema || content.schema.type === 'string', `${keys.join(' ')}: no name`);
    const nameless: string[] = [];
    const look = (value: Json, where: string): void => {
      if (value === null || typeof value !== 'object') return;
      const members = Object.keys(value.type === 'object' ? (value.properties ?? {}) : {});
      if (members.length > 0) nameless.push(`${where}: ${members}`);
      for (const [key, inner] of Object.entries(value as Json)) look(inner, `${where}/${key}`);
    };
    for (const [name, schema] of Object.entries(document.components.schemas as Json)) {
      // A component may be an object, or add one to another component.
      for (const part of (schema as Json).allOf ?? [schema]) look({ ...part, type: undefined }, name);
    }
    assert.deepEqual(nameless, []);
  });

  test('makes one type of each list of values', () => {
    const unions: string[] = [];
    const look = (value: unknown, where: string): void => {
      if (value === null || typeof value !== 'object') return;
      const { anyOf } = value as Json;
      if (Array.isArray(anyOf) && anyOf.every((one) => 'const' in one || one.enum?.length === 1))
        unions.push(where);
      for (const [key, inner] of Object.entries(value)) look(inner, `${where}/${key}`);
    };
    look(document, '');
    assert.deepEqual(unions, []);
  });

  test('is not larger than it need be [HTTP-32]', () => {
    const { size } = statSync(new URL('../openapi.json', import.meta.url));
    assert.ok(size < MAX_BYTES, `${size} bytes: say once what several calls have`);
  });
});
