/** The alerts and the dashboard of deploy/: valid PromQL over metrics and labels that the service has. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { parser } from '@prometheus-io/lezer-promql';
import type { MetricObject } from 'prom-client';
import { parse } from 'yaml';
import { buildDeliveries } from '../src/app/build-worker.ts';
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

/** A metric that a query selects, and the labels that it is selected and grouped by. */
interface Selection {
  metric: string;
  by: string[];
}

function selectionsOf(query: string): Selection[] {
  const found: (Selection & { from: number })[] = [];
  const groups: { from: number; to: number; labels: string[] }[] = [];
  parser.parse(query).iterate({
    enter({ name, from, to }) {
      const text = query.slice(from, to);
      if (name === 'AggregateExpr') groups.push({ from, to, labels: [] });
      if (name === 'VectorSelector') found.push({ metric: '', by: [], from });
      const selection = found.at(-1);
      if (name === 'Identifier' && selection !== undefined) selection.metric = text;
      if (name !== 'LabelName') return;
      // The labels of a group stand before what it groups.
      const group = groups.findLast((one) => one.to > to);
      if (selection !== undefined && selection.from > (group?.from ?? -1)) selection.by.push(text);
      else group?.labels.push(text);
    },
  });
  return found.map(({ metric, by, from }) => ({
    metric,
    by: [...by, ...groups.filter((one) => one.from < from && from < one.to).flatMap(({ labels }) => labels)],
  }));
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

  test('asks in valid PromQL', () => {
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

  test('asks for metrics that the service has', () => {
    const asked = new Set(queries.flatMap((query) => selectionsOf(query).map(({ metric }) => metric)));
    const known = [...types].flatMap(([name, type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    );
    assert.deepEqual(
      [...asked].filter((name) => name !== 'up' && !known.includes(name)),
      [],
    );
    const unused = [...types.keys()].filter(
      (name) => name.startsWith('interchange_') && ![...asked].some((one) => one.startsWith(name)),
    );
    assert.deepEqual(unused, [], 'metrics that nobody looks at');
  });

  test('asks each metric by labels that it has', async () => {
    await buildDeliveries(api.runtime).stop();
    const metrics = api.runtime.metrics.registry.getMetricsAsArray() as (MetricObject & {
      labelNames: string[];
    })[];
    const labels = new Map(metrics.map(({ name, labelNames }) => [name, labelNames]));
    let count = 0;
    for (const query of queries)
      for (const { metric, by } of selectionsOf(query)) {
        const own = labels.get(metric) ?? labels.get(metric.replace(/_(?:bucket|count|sum)$/, '')) ?? [];
        // Other programs have metrics of that name, too.
        if (!metric.startsWith('interchange_'))
          assert.ok(query.includes(`${metric}{job="interchange"}`), query);
        for (const label of by)
          assert.ok([...own, ...ADDED_LABELS].includes(label), `${metric} has no label ${label}: ${query}`);
        count += by.length;
      }
    assert.ok(count > 40, String(count));
  });

  test('asks for outcomes that publishes have', async () => {
    const code = await read('src/publish/history/publish-metrics.ts');
    const outcomes = queries.flatMap((query) => /outcome=~?"([\w|]+)"/.exec(query)?.[1]?.split('|') ?? []);
    assert.ok(outcomes.length > 2);
    for (const outcome of outcomes) assert.ok(code.includes(`'${outcome}'`), outcome);
  });

  test('says of each alert what to do', async () => {
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

  test('has panels that do not cover each other', () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
    );
    assert.equal(new Set(cells).size, cells.length);
    for (const { title, gridPos } of panels) assert.ok(gridPos.x + gridPos.w <= 24, title);
  });
});
