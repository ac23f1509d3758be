import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  coverageFaults,
  coveragePage,
  findCitations,
  findProofs,
  parseContract,
  unprovenFaults,
} from './contract-coverage.ts';

const CONTRACT = `# The contract

- No sentence, for it has no id.

## Sign-in

- **SIGN-IN-1** A session ends
  at logout.
- **SIGN-IN-2** Any clock will do. *Not tested here:* There is
  one clock.

## Errors

- **HTTP-1** The answer is \`{ a | b }\` or <nothing>.
`;
const [first, second, third] = parseContract(CONTRACT);
const sentences = parseContract(CONTRACT);

describe('the sentences of the contract', () => {
  test('have an id, a section and one line of text', () => {
    assert.deepEqual(first, {
      id: 'SIGN-IN-1',
      section: 'Sign-in',
      text: 'A session ends at logout.',
      notTested: undefined,
    });
    assert.deepEqual([third?.id, third?.section], ['HTTP-1', 'Errors']);
    assert.equal(sentences.length, 3);
  });

  test('may say why no test proves them', () => {
    assert.deepEqual([second?.text, second?.notTested], ['Any clock will do.', 'There is one clock.']);
  });
});

describe('citations in code', () => {
  const cited = (path: string, text: string) => [...findCitations(sentences, new Map([[path, text]]))];

  test('stand in comments of every kind', () => {
    for (const comment of ['/** Ends it. Contract: HTTP-1. */', '// (HTTP-1)', '/*\n * HTTP-1\n */'])
      assert.deepEqual(cited('src/a.ts', comment), [['HTTP-1', ['src/a.ts']]], comment);
    assert.deepEqual(cited('migrations/1.sql', '-- HTTP-1\nselect 1'), [['HTTP-1', ['migrations/1.sql']]]);
  });

  test('do not stand in code, in longer words, or in ids that end alike', () => {
    assert.deepEqual(cited('src/a.ts', "const id = 'HTTP-1';"), []);
    assert.deepEqual(cited('src/a.ts', '// XHTTP-1 HTTP-1x HTTP-1-2 MY-HTTP-1'), []);
  });

  test('of an id that is not there are found too, where its area is', () => {
    assert.deepEqual(cited('src/a.ts', '// HTTP-9 UTF-8 RFC-7'), [['HTTP-9', ['src/a.ts']]]);
  });
});

describe('proofs in tests', () => {
  const proofs = (text: string) => findProofs(new Map([['src/a.test.ts', text]]));

  test('stand at the end of titles, in every way of writing a test', () => {
    const found = [{ path: 'src/a.test.ts', title: 'ends', ids: ['SIGN-IN-1', 'HTTP-1'] }];
    for (const text of [
      "test('ends [SIGN-IN-1, HTTP-1]', () => {});",
      'it(`ends [SIGN-IN-1, HTTP-1]`, { timeout: 1 }, () => {});',
      'test(\n  "ends [SIGN-IN-1, HTTP-1]",\n  () => {},\n);',
    ])
      assert.deepEqual(proofs(text), found, text);
  });

  test('are no other brackets, and none of a group', () => {
    assert.deepEqual(proofs("test('takes [1, 2] and [a]', () => {});"), []);
    assert.deepEqual(proofs("describe('ends [SIGN-IN-1]', () => {});"), []);
  });

  test('show quotes as they read', () => {
    assert.equal(proofs("test('it\\'s over [HTTP-1]', () => {});")[0]?.title, "it's over");
  });
});

describe('the page', () => {
  const proofs = findProofs(
    new Map([
      ['src/b.test.ts', "test('b | c [HTTP-1]', () => {}); test('d [HTTP-1]', () => {});"],
      ['src/a.test.ts', "test('a [SIGN-IN-1, HTTP-1]', () => {});"],
    ]),
  );
  const citations = new Map([['HTTP-1', ['src/z.ts', 'src/y.ts']]]);

  test('has a table for each section, in the order of the contract', () => {
    const page = coveragePage({ sentences, citations, proofs });
    assert.match(page, /^# Coverage of the contract\n/);
    assert.deepEqual(page.match(/^## .*$/gm), ['## Sign-in', '## Errors']);
    assert.ok(page.includes('\n| SIGN-IN-1 | A session ends at logout. |  | `src/a.test.ts`: a |\n'), page);
    assert.ok(
      page.includes('| SIGN-IN-2 | Any clock will do. |  | Not tested here: There is one clock. |'),
      page,
    );
  });

  test('escapes what a table or a page would take for its own', () => {
    const page = coveragePage({ sentences, citations, proofs });
    assert.ok(
      page.includes(
        '| HTTP-1 | The answer is `{ a \\| b }` or \\<nothing>. | `src/y.ts`<br>`src/z.ts` | `src/a.test.ts`: a<br>`src/b.test.ts`: b \\| c; d |\n',
      ),
      page,
    );
  });
});

describe('faults', () => {
  const good = {
    sentences,
    citations: new Map([
      ['SIGN-IN-1', ['src/a.ts']],
      ['HTTP-1', ['src/a.ts']],
    ]),
    proofs: [{ path: 'test/a.test.ts', title: 'a', ids: ['SIGN-IN-1', 'HTTP-1'] }],
  };

  test('are none where each sentence has code and a test, or says why it has no test', () => {
    assert.deepEqual(coverageFaults(good), []);
  });

  test('are sentences without code or test', () => {
    assert.deepEqual(coverageFaults({ ...good, citations: new Map(), proofs: [] }), [
      'No comment in the code names SIGN-IN-1. Name it where the code keeps that sentence: Contract: SIGN-IN-1.',
      'No test names SIGN-IN-1. Add [SIGN-IN-1] to the title of a test that proves it, or write that test.',
      'No comment in the code names HTTP-1. Name it where the code keeps that sentence: Contract: HTTP-1.',
      'No test names HTTP-1. Add [HTTP-1] to the title of a test that proves it, or write that test.',
    ]);
  });

  test('are ids that stand twice or are not there', () => {
    const twice = [...sentences, ...sentences.slice(2)];
    assert.deepEqual(coverageFaults({ ...good, sentences: twice }), [
      'docs/contract.md has HTTP-1 twice. Give one of them a new id.',
    ]);
    const citations = new Map([...good.citations, ['HTTP-9', ['src/b.ts']]]);
    assert.deepEqual(coverageFaults({ ...good, citations }), [
      'src/b.ts names HTTP-9, which docs/contract.md does not have.',
    ]);
    const proofs = [...good.proofs, { path: 'test/b.test.ts', title: 'b', ids: ['HTTP-8'] }];
    assert.deepEqual(coverageFaults({ ...good, proofs }), [
      'test/b.test.ts names HTTP-8, which docs/contract.md does not have.',
    ]);
  });

  test('are sentences that say that no test proves them, and have one', () => {
    const proofs = [...good.proofs, { path: 'test/b.test.ts', title: 'b', ids: ['SIGN-IN-2'] }];
    assert.deepEqual(coverageFaults({ ...good, proofs }), [
      'test/b.test.ts proves SIGN-IN-2, so docs/contract.md should not say that it is not tested.',
    ]);
  });
});

describe('a whole run of the tests', () => {
  test('proves each sentence by a test that passed', () => {
    assert.deepEqual(unprovenFaults(sentences, ['a [SIGN-IN-1, HTTP-1]', 'b']), []);
    assert.deepEqual(unprovenFaults(sentences, ['a [HTTP-1]']), [
      'No test that passed proves SIGN-IN-1: A session ends at logout.',
    ]);
  });
});
