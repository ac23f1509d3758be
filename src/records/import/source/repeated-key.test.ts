import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { repeatedKey } from './repeated-key.ts';

test('names the path of the first key that an object has twice [IN-45]', () => {
  for (const [json, path] of [
    ['{"a":1,"a":2}', 'a'],
    ['{"a":1,"b":{"a":1,"c":[{"d":1},{"d":1,"e":2,"d":3}]}}', 'b.c.d'],
    ['{"a\\u0062":1,"ab":2}', 'ab'],
    ['{"a\\\\":1,"a\\\\":2}', 'a\\'],
    ['{"":1,"":2}', ''],
    [`{${Array.from({ length: 40 }, (_, index) => `"k${index}":[]`).join()},"k3":0}`, 'k3'],
    [' [ { "a" : "x" , "a" : "y" } ] ', 'a'],
  ] as const)
    assert.equal(repeatedKey(json), path, json);
});

test('finds none in what JSON.stringify writes [IN-45]', () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      assert.equal(repeatedKey(JSON.stringify(JSON.parse(json))), undefined);
    }),
  );
  assert.equal(repeatedKey('{"a":"a","b":"\\"a\\":","c":["c","c"],"d":{"a":1}}'), undefined);
});
