/** Floor (d): reads the files, parses them, and copies their resources into one table, a row each, and no more. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg, { type Connection, type Submittable } from 'pg';
import { readBundle } from '../records/copies.ts';
import type { Place } from '../records/sign-in.ts';

/** Returns the number of rows. A file is a transaction, as in an import. */
export async function copyFiles(
  databaseUrl: string,
  { organisationId, facilityId }: Place,
  { folder, types }: { folder: string; types: ReadonlySet<string> },
): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`
      create table if not exists bench_resource (
        organisation_id uuid not null,
        facility_id uuid not null,
        type text not null,
        id text not null,
        content jsonb not null,
        primary key (organisation_id, facility_id, type, id)
      )`);
    let rows = 0;
    for (const name of (await readdir(folder)).sort()) {
      const { entry = [] } = await readBundle(join(folder, name));
      const lines = entry.flatMap(({ resource, fullUrl }) =>
        resource !== undefined && types.has(resource.resourceType)
          ? [
              [organisationId, facilityId, resource.resourceType, resource.id ?? fullUrl ?? '']
                .concat(escaped(JSON.stringify(resource)))
                .join('\t'),
            ]
          : [],
      );
      rows += lines.length;
      await copyIn(client, 'copy bench_resource from stdin', `${lines.join('\n')}\n`);
    }
    return rows;
  } finally {
    await client.end();
  }
}

/** The text format of COPY. JSON has no tab or line end of its own. */
function escaped(json: string): string {
  return json.replaceAll('\\', '\\\\');
}

/** A statement that takes its data with it; `pg` has the messages of COPY, and no query that uses them. */
function copyIn(client: pg.Client, text: string, data: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let failure: Error | undefined;
    client.query({
      submit: (connection: Connection) => connection.query(text),
      handleCopyInResponse(connection: CopyConnection) {
        connection.sendCopyFromChunk(Buffer.from(data));
        connection.endCopyFrom();
      },
      handleCommandComplete: () => undefined,
      handleError: (error: Error) => {
        failure = error;
        reject(error);
      },
      handleReadyForQuery: () => failure ?? resolve(),
    } as Submittable);
  });
}

interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}
