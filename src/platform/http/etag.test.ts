import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchesEtag, weakEtag } from './etag.ts';

test('If-None-Match is a list, compared weakly, or * [ENC-32]', () => {
  const etag = weakEtag(3);
  assert.equal(etag, 'W/"3"');
  for (const header of ['W/"3"', '"3"', '*', ' * ', 'W/"1", W/"3"', '"a,b","3"'])
    assert.equal(matchesEtag(header, etag), true, header);
  for (const header of [undefined, '', '3', 'W/3', 'W/"33"', '"1"', 'W/"1","2"', '"*"'])
    assert.equal(matchesEtag(header, etag), false, String(header));
});
