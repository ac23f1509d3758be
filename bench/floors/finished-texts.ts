/** Puts answers of the service into the table that floor (e) reads: the same bytes, ready to be sent. */
import { withClient } from '../../src/platform/db/migrate.ts';

export interface AnswerSource {
  databaseUrl: string;
  serviceUrl: string;
  headers: Record<string, string>;
}

/** Returns the paths under which the floor has the answers. */
export async function fillFinishedTexts(
  { databaseUrl, serviceUrl, headers }: AnswerSource,
  paths: readonly string[],
): Promise<string[]> {
  await withClient(databaseUrl, async (client) => {
    await client.query('drop table if exists bench_text');
    await client.query('create table bench_text (number integer primary key, body text not null)');
    // Not compressed: reading it has to cost no more than its bytes.
    await client.query('alter table bench_text alter column body set storage external');
    for (const [number, path] of paths.entries()) {
      const response = await fetch(`${serviceUrl}${path}`, { headers });
      if (!response.ok) throw new Error(`The service answered ${response.status} to ${path}.`);
      await client.query('insert into bench_text (number, body) values ($1, $2)', [
        number,
        await response.text(),
      ]);
    }
    await client.query('vacuum (analyze) bench_text');
  });
  return paths.map((_, number) => `/text/${number}`);
}
