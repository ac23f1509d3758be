/**
 * What docs/contract.md promises, which code keeps it and which tests prove it. The functions read texts, write the
 * page docs/spec-coverage.md and list what is wrong (docs/adr/0104).
 */

export interface Sentence {
  id: string;
  section: string;
  text: string;
  /** Why no test proves it. */
  notTested: string | undefined;
}

/** A test whose title names sentences. */
export interface Proof {
  path: string;
  /** Without the ids and without the backslashes of the source. */
  title: string;
  ids: string[];
}

export interface Coverage {
  sentences: readonly Sentence[];
  /** Paths of the code by id. */
  citations: ReadonlyMap<string, readonly string[]>;
  proofs: readonly Proof[];
}

/** Texts by path, relative to the repository, with forward slashes. */
export type Texts = ReadonlyMap<string, string>;

const NOT_TESTED = ' *Not tested here:* ';
const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*|^\s*--.*/gm;
const TITLE = /\b(?:test|it)(?:\.\w+)?\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g;
const TAG = / \[([A-Z]+(?:-[A-Z]+)*-\d+(?:, [A-Z]+(?:-[A-Z]+)*-\d+)*)\]$/;

/** The list items that begin with an id, in their order. */
export function parseContract(page: string): Sentence[] {
  return page.split(/^## /m).flatMap((part) => {
    const section = part.split('\n', 1)[0] ?? '';
    const items = part.matchAll(/^- \*\*([A-Z-]+-\d+)\*\* (.*(?:\n {2}.*)*)/gm);
    return Array.from(items, ([, id = '', body = '']) => {
      const [text = '', notTested] = body.replaceAll(/\n {2}/g, ' ').split(NOT_TESTED);
      return { id, section, text, notTested };
    });
  });
}

/** The ids that stand in comments, those that the contract lacks included. */
export function findCitations(sentences: readonly Sentence[], code: Texts): Map<string, string[]> {
  const areas = [...new Set(sentences.map(({ id }) => id.replace(/-\d+$/, '')))];
  const anyId = new RegExp(`(?<![\\w-])(?:${areas.join('|')})-\\d+(?![\\w-])`, 'g');
  const found = new Map<string, string[]>();
  for (const [path, text] of code) {
    const comments = text.match(COMMENT)?.join('\n') ?? '';
    for (const id of new Set(comments.match(anyId))) found.set(id, [...(found.get(id) ?? []), path]);
  }
  return found;
}

/** The tests whose titles end in ids. */
export function findProofs(tests: Texts): Proof[] {
  return [...tests].flatMap(([path, text]) =>
    Array.from(text.matchAll(TITLE), ([, , title = '']) => ({ path, ...splitTitle(title) })).filter(
      ({ ids }) => ids.length > 0,
    ),
  );
}

function splitTitle(title: string): { title: string; ids: string[] } {
  const ids = TAG.exec(title)?.[1]?.split(', ') ?? [];
  return { title: title.replace(TAG, '').replaceAll(/\\(.)/g, '$1'), ids };
}

/** What docs/spec-coverage.md says. */
export function coveragePage(coverage: Coverage): string {
  const sections = Map.groupBy(coverage.sentences, ({ section }) => section);
  const tables = Array.from(sections, ([section, sentences]) => {
    const rows = sentences.map((sentence) => row(sentence, coverage));
    return `## ${section}\n\n| Id | Sentence | Code | Tests |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return [
    '# Coverage of the contract\n',
    'Each sentence of [the contract](contract.md), the code that keeps it and the tests that prove it.',
    '`npm run spec-coverage` writes this page from the ids in comments and in the titles of tests. `npm run check` fails',
    'when the page is out of date, and `TEST_SIZE=full npm test` when no test that passed proves a sentence.\n',
    tables.join('\n'),
  ].join('\n');
}

function row({ id, text, notTested }: Sentence, { citations, proofs }: Coverage): string {
  const code = [...(citations.get(id) ?? [])].sort().map((path) => `\`${path}\``);
  const byPath = Map.groupBy(
    proofs.filter(({ ids }) => ids.includes(id)),
    ({ path }) => path,
  );
  const tests = [...byPath]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, own]) => `\`${path}\`: ${own.map(({ title }) => escaped(title)).join('; ')}`);
  if (notTested !== undefined) tests.push(`Not tested here: ${escaped(notTested)}`);
  return `| ${id} | ${escaped(text)} | ${code.join('<br>')} | ${tests.join('<br>')} |`;
}

/** For the cell of a table: a bar ends it, and `<` outside of code begins a tag. */
function escaped(text: string): string {
  const parts = text.replaceAll('|', '\\|').split('`');
  return parts.map((part, index) => (index % 2 === 0 ? part.replaceAll('<', '\\<') : part)).join('`');
}

/** What is wrong with ids, code and titles; one line for each fault. */
export function coverageFaults({ sentences, citations, proofs }: Coverage): string[] {
  const known = new Map(sentences.map((sentence) => [sentence.id, sentence]));
  const proven = new Map(proofs.flatMap(({ ids, path }) => ids.map((id) => [id, path] as const)));
  const ids = sentences.map(({ id }) => id);
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
  const unknown = [
    ...[...citations].flatMap(([id, paths]) => paths.map((path) => ({ id, path }))),
    ...proofs.flatMap(({ ids, path }) => ids.map((id) => ({ id, path }))),
  ].filter(({ id }) => !known.has(id));
  return [
    ...twice.map((id) => `docs/contract.md has ${id} twice. Give one of them a new id.`),
    ...unknown.map(({ id, path }) => `${path} names ${id}, which docs/contract.md does not have.`),
    ...[...known.values()].flatMap((sentence) =>
      sentenceFaults(sentence, citations.has(sentence.id), proven.get(sentence.id)),
    ),
  ];
}

function sentenceFaults({ id, notTested }: Sentence, isCited: boolean, test: string | undefined): string[] {
  if (notTested !== undefined)
    return test === undefined
      ? []
      : [`${test} proves ${id}, so docs/contract.md should not say that it is not tested.`];
  const faults: string[] = [];
  if (!isCited)
    faults.push(
      `No comment in the code names ${id}. Name it where the code keeps that sentence: Contract: ${id}.`,
    );
  if (test === undefined)
    faults.push(
      `No test names ${id}. Add [${id}] to the title of a test that proves it, or write that test.`,
    );
  return faults;
}

/** After a run of every test: the sentences that no test proved. */
export function unprovenFaults(sentences: readonly Sentence[], passed: readonly string[]): string[] {
  const proven = new Set(passed.flatMap((title) => splitTitle(title).ids));
  return sentences
    .filter(({ id, notTested }) => notTested === undefined && !proven.has(id))
    .map(({ id, text }) => `No test that passed proves ${id}: ${text}`);
}
