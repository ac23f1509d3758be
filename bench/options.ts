/** The options of `npm run bench`, and its help. */
import { parseArgs } from 'node:util';

export interface Options {
  help: boolean;
  /** Names of the parts to measure, in their order. */
  parts: string[];
  quick: boolean;
  /** Patients, and encounters. */
  records: number;
  /** Seconds of each load in each round. */
  seconds: number;
  rounds: number;
  /** Folder whose files the import takes; undefined: the records of the demo. */
  importData: string | undefined;
  /** Copies of those files, each with ids of its own. */
  copies: number;
  markdown: boolean;
}

/** What can be wrong is said in an error with one sentence. */
export function readOptions(args: readonly string[], parts: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      quick: { type: 'boolean', default: false },
      records: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string', default: '3' },
      'import-data': { type: 'string' },
      copies: { type: 'string' },
      markdown: { type: 'boolean', default: false },
    },
  });
  const unknown = positionals.find((part) => !parts.includes(part));
  if (unknown !== undefined)
    throw new Error(`There is no part ${unknown}. The parts are: ${parts.join(', ')}.`);
  const importData = values['import-data'];
  return {
    help: values.help,
    parts: parts.filter((part) => positionals.length === 0 || positionals.includes(part)),
    quick: values.quick,
    records: numberOf('--records', values.records ?? (values.quick ? '100000' : '1000000')),
    seconds: numberOf('--seconds', values.seconds ?? (values.quick ? '2' : '8')),
    rounds: numberOf('--rounds', values.rounds),
    importData,
    copies: numberOf('--copies', values.copies ?? copiesOf(importData, values.quick)),
    markdown: values.markdown,
  };
}

/** The demo has 260 resources; a folder that is given has many. */
function copiesOf(importData: string | undefined, quick: boolean): string {
  if (importData !== undefined) return '20';
  return quick ? '40' : '100';
}

function numberOf(option: string, text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`${option} takes a whole number from 1, not ${text}.`);
  return Number(text);
}

export function helpText(parts: readonly { name: string; summary: string }[]): string {
  const lines = parts.map(({ name, summary }) => `  ${name.padEnd(12)} ${summary}`);
  return `npm run bench [-- PART...] [options]

Measures the service beside bare floors in the same run, and prints a table of what was reached and the aims.
Without a PART it measures all of them:
${lines.join('\n')}

  --quick            --records 100000 --seconds 2, and smaller numbers in other parts
  --records N        patients and encounters that are loaded (1000000)
  --seconds N        seconds of each load in each round (8)
  --rounds N         rounds; the table has their medians (3)
  --import-data DIR  FHIR files that the import takes; the records of the demo if not given
  --copies N         copies of those files, each with ids of its own (20; 100 of the demo's, 40 with --quick)
  --markdown         print the table as Markdown

Records are loaded once and kept in data/bench. BENCH_DATABASE_URL names another PostgreSQL server: the address of
a database whose owner may create databases. Method and floors: docs/performance.md
`;
}
