/**
 * Writes docs/spec-coverage.md from the contract, code and tests, or with `--check` fails when it is out of date. Fails
 * either way when a sentence has no code or no test.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import {
  coverageFaults,
  coveragePage,
  findCitations,
  findProofs,
  parseContract,
  type Texts,
} from './contract-coverage.ts';

const PAGE = 'docs/spec-coverage.md';
const CODE = [
  '{src,local-postgres,tools,scripts,migrations}/**/*.{ts,js,sql}',
  'web/{*,src/**/*}.{ts,tsx,js}',
];
const TESTS = '{src,local-postgres,tools,scripts,test,bench,soak,web/src}/**/*.test.ts';
/** Tests that several files run. */
const SHARED_TESTS = 'test-support/**/*.ts';
/** Its texts are examples. */
const OWN_TEST = 'scripts/contract-coverage.test.ts';

const sentences = parseContract(readFileSync('docs/contract.md', 'utf8'));
const tests = read(TESTS, SHARED_TESTS);
const coverage = {
  sentences,
  citations: findCitations(sentences, codeWithoutTests(read(...CODE))),
  proofs: findProofs(tests),
};
const page = coveragePage(coverage);
const faults = coverageFaults(coverage);
if (!process.argv.includes('--check')) writeFileSync(PAGE, page);
else if (page !== readFileSync(PAGE, 'utf8'))
  faults.push(`${PAGE} is out of date. Run: npm run spec-coverage`);
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0) process.exitCode = 1;

/** The checks in scripts/ are tests and keep a sentence themselves. */
function codeWithoutTests(texts: Texts): Texts {
  return new Map([...texts].filter(([path]) => !path.endsWith('.test.ts') || path.startsWith('scripts/')));
}

function read(...patterns: string[]): Map<string, string> {
  const paths = globSync(patterns).map((path) => path.replaceAll('\\', '/'));
  return new Map(
    paths
      .filter((path) => path !== OWN_TEST)
      .sort()
      .map((path) => [path, readFileSync(path, 'utf8')]),
  );
}
