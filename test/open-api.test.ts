/** The OpenAPI document: valid by its own schema, complete, and true of what is answered. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Json, startTestApi, type TestApi } from '../test-support/api.ts';

let api: TestApi;
let document: Json;
before(async () => {
  api = await startTestApi();
  document = (await api.call('/docs/json')).json;
});
after(async () => api?.close());

/** Every operation with its method and path. */
function operations(): { where: string; path: string; method: string; operation: Json }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item as Json).map(([method, operation]) => ({
      where: `${method} ${path}`,
      path,
      method,
      operation: operation as Json,
    })),
  );
}

/** What a `$ref` names. */
const resolve = (value: Json): Json =>
  value.$ref === undefined
    ? value
    : value.$ref
        .slice(2)
        .split('/')
        .reduce((at: Json, key: string) => at[key], document);

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1 [HTTP-25]', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    assert.deepEqual({ valid, errors }, { valid: true, errors: undefined });
  });

  it('has every route once, with a name of its own and a declared tag [HTTP-25]', () => {
    const below = api.api.routes.filter(({ path }) => path.startsWith('/api/v1/'));
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

  it('lets generated clients send the body of each call that takes one', () => {
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
        const without = /\/(publish-fhir|enable|disable|activate-secret|logout)$/.test(where);
        assert.equal(operation.requestBody === undefined, without, where);
      }
    const form = operations().find(({ operation }) => operation.operationId === 'searchEncountersByForm');
    const schema = form?.operation.requestBody.content['application/x-www-form-urlencoded'].schema;
    assert.deepEqual([...schema.required].sort(), ['patient', 'purposeOfUse']);
  });

  it('gives every id in a path the format uuid, and facility headers to every call of a facility', () => {
    for (const { where, operation } of operations()) {
      const parameters: Json[] = operation.parameters.map(resolve);
      for (const parameter of parameters.filter((one) => one.in === 'path'))
        assert.equal(parameter.schema.format, 'uuid', `${where} ${parameter.name}`);
      const headers = parameters.filter((one) => one.in === 'header').map(({ name }) => name);
      const ofFacility = 'x-facility-id x-org-id'.split(' ').every((name) => headers.includes(name));
      assert.equal(ofFacility, operation.description?.includes('Permission:') ?? false, where);
      assert.equal(headers.includes('if-none-match'), '304' in operation.responses, where);
    }
  });

  it('has an example of each body that is sent', () => {
    for (const { where, operation } of operations()) {
      const [first] = Object.values((operation.requestBody?.content ?? {}) as Record<string, Json>);
      if (first !== undefined) assert.ok(first.example !== undefined, where);
    }
  });

  it('has examples that their own schemas take', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'document');
    const examples = operations().flatMap(({ path, method, operation }) =>
      contentsOf(operation).map(({ keys, example }) => ({ keys: ['paths', path, method, ...keys], example })),
    );
    for (const { keys, example } of examples) {
      const parts = keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')));
      const check = ajv.compile({ $ref: `document#/${parts.join('/')}/schema` });
      assert.ok(check(example), `${keys.join(' ')}: ${ajv.errorsText(check.errors)}`);
    }
    assert.ok(examples.filter(({ keys }) => keys.includes('responses')).length >= 5);
  });

  /** Each content of an operation that has an example, with the keys that lead to it. */
  function contentsOf({ requestBody, responses }: Json): { keys: string[]; example: unknown }[] {
    const parts: [string[], Json][] = [[['requestBody'], requestBody ?? {}]];
    for (const [status, response] of Object.entries(responses as Record<string, Json>))
      parts.push([['responses', status], response]);
    return parts.flatMap(([keys, { content = {} }]) =>
      Object.entries(content as Record<string, Json>)
        .filter(([, { example }]) => example !== undefined)
        .map(([type, { example }]) => ({ keys: [...keys, 'content', type], example })),
    );
  }

  it('makes one type of each list of values', () => {
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

  it('is not larger than it need be', () => {
    const { size } = statSync(new URL('../openapi.json', import.meta.url));
    assert.ok(size < 250_000, `${size} bytes`);
  });
});
