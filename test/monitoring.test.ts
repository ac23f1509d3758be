/** The alerts and the dashboard of deploy/: valid PromQL over metrics and labels that the service has. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { startTestApi, type TestApi } from '../test-support/service/api.ts';
import { startCommand } from '../test-support/service/command.ts';

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}
interface Panel {
  title: string;
  gridPos: Record<'x' | 'y' | 'w' | 'h', number>;
  targets: { expr: string }[];
}

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8');
/** Labels that Prometheus adds, and those of histograms. */
const ADDED_LABELS = ['job', 'instance', 'le'];

describe('monitoring', () => {
  let api: TestApi;
  let rules: Rule[];
  let panels: Panel[];
  let queries: string[];
  /** By the name without the suffix of a histogram. */
  const types = new Map<string, string>();
  before(async () => {
    api = await startTestApi();
    rules = parse(await read('deploy/prometheus-rules.yaml')).groups[0].rules;
    panels = JSON.parse(await read('deploy/grafana-dashboard.json')).panels;
    const drawn = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    queries = [...rules.map(({ expr }) => expr), ...drawn].map((query) =>
      query.replaceAll('$__rate_interval', '5m'),
    );
    const service = startCommand(['serve'], { env: { ...api.env, PORT: '0' } });
    const [line] = await service.printed(/.*"event":"listening".*/);
    const answer = await fetch(`http://127.0.0.1:${JSON.parse(line ?? '').port}/metrics`, {
      headers: { connection: 'close' },
    });
    for (const [, name = '', type = ''] of (await answer.text()).matchAll(/^# TYPE (\S+) (\S+)$/gm))
      types.set(name, type);
    service.child.kill('SIGTERM');
    await service.ended;
  });
  after(() => api.close());

  it('asks in valid PromQL', () => {
    for (const query of queries) {
      let faults = 0;
      parser.parse(query).iterate({
        enter: ({ type }) => {
          if (type.isError) faults += 1;
        },
      });
      assert.equal(faults, 0, query);
    }
  });

  it('asks for metrics that the service has', () => {
    const asked = new Set(
      queries.flatMap((query) => query.match(/\b(?:interchange|process)_[a-z_]+/g) ?? []),
    );
    const known = [...types].flatMap(([name, type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    );
    assert.deepEqual(
      [...asked].filter((name) => !known.includes(name)),
      [],
    );
    const unused = [...types.keys()].filter(
      (name) => name.startsWith('interchange_') && ![...asked].some((one) => one.startsWith(name)),
    );
    assert.deepEqual(unused, [], 'metrics that nobody looks at');
  });

  it('asks by labels that these metrics have', async () => {
    const code = await Promise.all(
      [
        'src/platform/metrics/metrics.ts',
        'src/exchange/worker/exchange-metrics.ts',
        'src/publish/history/publish-metrics.ts',
        'src/app/runtime/organisation-work.ts',
      ].map(read),
    );
    const lists = [...code.join('\n').matchAll(/labelNames: \[([^\]]*)\]/g)].map(([, list = '']) => list);
    const known = new Set([...lists.join().matchAll(/'(\w+)'/g)].map(([, name = '']) => name));
    const labels = queries.flatMap((query) => [
      ...[...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/)),
      ...[...query.matchAll(/(\w+)\s*(?:=~|!=|=)\s*"/g)].map(([, name = '']) => name),
    ]);
    assert.deepEqual(
      [...new Set(labels)].filter((label) => !known.has(label) && !ADDED_LABELS.includes(label)),
      [],
    );
  });

  it('says of each alert what to do', async () => {
    const page = await read('docs/runbook.md');
    const headings = [...page.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    assert.deepEqual(
      headings,
      rules.map(({ alert }) => alert),
    );
    for (const { alert, annotations, labels } of rules) {
      assert.equal(annotations.runbook, `docs/runbook.md#${alert.toLowerCase()}`);
      assert.match(annotations.summary, /\.$/);
      assert.match(labels.severity, /^(critical|warning)$/);
    }
  });

  it('has panels that do not cover each other', () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
    );
    assert.equal(new Set(cells).size, cells.length);
    for (const { title, gridPos } of panels) assert.ok(gridPos.x + gridPos.w <= 24, title);
  });
});
