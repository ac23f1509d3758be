import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roomViolations } from './room-size.ts';

const files = (count: number, ending: string) =>
  Array.from({ length: count }, (_, index) => `src/room/${index}${ending}`);

test('a room of more than 16 files is named; its tests and the rooms inside it do not count [OPS-21]', () => {
  const whole = [...files(15, '.ts'), 'src/room/a.module.css'];
  assert.deepEqual(roomViolations([...whole, ...files(9, '.test.ts'), 'src/room/inside/a.ts']), []);
  const [violation, ...others] = roomViolations([...whole, 'src/room/b.sql']);
  assert.match(violation ?? '', /^src\/room: holds 17 files/);
  assert.deepEqual(others, []);
});
