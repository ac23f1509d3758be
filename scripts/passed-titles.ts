/** A reporter of node:test: the titles of the tests that ran and passed, one on each line. */
import type { TestEvent } from 'node:test/reporters';

export default async function* passedTitles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' || data.details.type === 'suite') continue;
    if (data.skip === undefined && data.todo === undefined) yield `${data.name}\n`;
  }
}
