import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { createWorkWatch, forEachOrganisation } from './organisation-work.ts';

const idsOf = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name} ${index}`);

describe('forEachOrganisation', () => {
  test('goes on with the others while more organisations hang than have turns at once [OPS-29]', async () => {
    const work = createWorkWatch().of('test');
    const end = Promise.withResolvers<void>();
    const done: string[] = [];
    const all = forEachOrganisation(work, [...idsOf('hung', 4), ...idsOf('well', 20)], async (id) => {
      if (id.startsWith('hung')) await end.promise;
      done.push(id);
    });
    await waitUntil(() => done.length === 20, 'the others are done');
    assert.deepEqual(done, idsOf('well', 20));
    end.resolve();
    await all;
    assert.equal(done.length, 24);
  });

  test('leaves those that it failed for to a later call once one of them is slow [OPS-29]', async () => {
    const clock = { ms: 0 };
    const work = createWorkWatch({ nowMs: () => clock.ms }).of('test');
    for (const id of idsOf('hung', 3)) work.failed(id, new Error('no answer'));
    clock.ms += 60_000;
    const begun = new Set<string>();
    const rounds = async () => {
      const before = begun.size;
      await forEachOrganisation(work, idsOf('hung', 3), async (id) => {
        begun.add(id);
        const beganMs = performance.now();
        await waitUntil(() => performance.now() - beganMs >= 1_000, 'the organisation was slow');
      });
      return begun.size - before;
    };
    assert.equal(await rounds(), 1);
    await waitUntil(async () => {
      await rounds();
      return begun.size === 3;
    }, 'each has its turn');
  });

  test('does nothing for no organisations', () =>
    forEachOrganisation(createWorkWatch().of('test'), [], () => assert.fail('nothing to do')));
});
