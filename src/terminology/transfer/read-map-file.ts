/** Reads a map file of either format into rows. Contract: TERM-26. */
import { Readable } from 'node:stream';
import { isDeeper, tooDeep } from '../../platform/json-depth.ts';
import { badFile } from '../errors.ts';
import { readConceptMapRows } from './concept-map.fhir.ts';
import { readCsvRows } from './csv-maps.ts';
import type { ImportRow, MapReadOptions } from './import-row.ts';

export type MapFileFormat = 'csv' | 'conceptmap';

/** A ConceptMap is read whole before its entries are taken; CSV is not. */
const MAX_CONCEPT_MAP_BYTES = 32 * 1_048_576;
const MAX_JSON_LEVELS = 64;

/** The rows of a file. Throws, while they are read, when it is none. */
export async function* readMapFile(
  source: Readable,
  format: MapFileFormat,
  options: MapReadOptions,
): AsyncGenerator<ImportRow> {
  if (format === 'csv') yield* readCsvRows(source, options);
  else yield* readConceptMapRows(parseJson(await readWhole(source)), options);
}

/** The format by what the file begins with; the stream is given back whole. */
export async function detectFormat(source: Readable): Promise<{ format: MapFileFormat; source: Readable }> {
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const first = await chunks.next();
  const beginning =
    first.done === true ? '' : first.value.toString('latin1').replace(/^\u00ef\u00bb\u00bf/, '');
  async function* whole(): AsyncGenerator<Buffer> {
    if (first.done !== true) yield first.value;
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
  }
  const format = /^\s*[{[]/.test(beginning) ? 'conceptmap' : 'csv';
  return { format, source: Readable.from(whole(), { objectMode: false }) };
}

async function readWhole(source: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_CONCEPT_MAP_BYTES)
      throw badFile({
        en: 'The ConceptMap is larger than 32 MiB. Split it by group, or import it as CSV.',
        fr: 'Le ConceptMap dépasse 32 Mio. Divisez-le par groupe, ou importez-le en CSV.',
      });
    chunks.push(chunk);
  }
  return decodeUtf8(Buffer.concat(chunks));
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw badFile(
      {
        en: 'The file is not UTF-8. Save it as UTF-8; FHIR JSON is always UTF-8.',
        fr: 'Le fichier n’est pas en UTF-8. Enregistrez-le en UTF-8 ; le JSON de FHIR est toujours en UTF-8.',
      },
      {
        cause: error,
      },
    );
  }
}

/** Before it is parsed: millions of brackets would keep everybody else waiting for seconds. */
function parseJson(text: string): unknown {
  if (isDeeper(text, MAX_JSON_LEVELS))
    throw badFile({
      en: `The file ${tooDeep(MAX_JSON_LEVELS)}.`,
      fr: `Le fichier a plus de ${MAX_JSON_LEVELS} niveaux imbriqués. Envoyez un document plus plat.`,
    });
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badFile(
      {
        en: 'The file was taken for JSON, but is not valid JSON. Correct it, or send it as CSV.',
        fr: 'Le fichier a été pris pour du JSON, mais n’est pas du JSON valide. Corrigez-le, ou envoyez-le en CSV.',
      },
      { cause: error },
    );
  }
}
