/**
 * Bars over time, one on another: what went well and what did not. A legend says what each colour is and how much of it there
 * was; the numbers stand in a table as well, for those who cannot see the drawing.
 */
import { useId } from 'react';
import { useFormatter } from 'use-intl';
import css from './chart.module.css';
import { marksOf, topOf, useTimeTicks } from './chart-scale.ts';

export interface ChartSeries {
  /** What is counted, after that many of it: "attempts failed". */
  nameOf: (count: number) => string;
  /** Each of a chart has its own. */
  tone: 'accent' | 'warning' | 'bad';
  /** One for each of the times. */
  values: readonly number[];
}

interface ChartProperties {
  title: string;
  /** Heading of the column of times. */
  timeHeading: string;
  /** Said in place of the bars where there are none. */
  empty: string;
  times: readonly Date[];
  /** From below. */
  series: readonly ChartSeries[];
}

const WIDTH = 600;
const HEIGHT = 100;
/** As a heading, a name stands for any number of it. */
const MANY = 2;
/** Of what a bar may take. */
const FILLED = 0.76;

export function Chart({ title, timeHeading, empty, times, series }: ChartProperties) {
  const id = useId();
  const sums = times.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const top = topOf(Math.max(...sums));
  const isEmpty = sums.every((sum) => sum === 0);
  return (
    <figure className={css.figure} aria-labelledby={id}>
      <figcaption className={css.caption}>
        <span id={id} className={css.title}>
          {title}
        </span>
        <Legend series={series} />
      </figcaption>
      <div className={css.plot} aria-hidden="true">
        <Marks marks={isEmpty ? [0] : marksOf(top)} />
        <div className={css.area}>
          <Drawing times={times} series={series} top={top} marks={isEmpty ? [0] : marksOf(top)} />
          {isEmpty ? <span className={css.empty}>{empty}</span> : undefined}
        </div>
        <Times times={times} />
      </div>
      <Numbers title={title} timeHeading={timeHeading} times={times} series={series} />
    </figure>
  );
}

function Legend({ series }: Pick<ChartProperties, 'series'>) {
  const format = useFormatter();
  return (
    <ul className={css.legend}>
      {series.map(({ nameOf, tone, values }) => {
        const sum = values.reduce((before, value) => before + value, 0);
        return (
          <li key={tone} className={css.entry}>
            <span className={`${css.key} ${css[tone]}`} aria-hidden="true" />
            <strong>{format.number(sum)}</strong> {nameOf(sum)}
          </li>
        );
      })}
    </ul>
  );
}

/** The numbers beside the lines, the highest first. */
function Marks({ marks }: { marks: readonly number[] }) {
  const format = useFormatter();
  return (
    <div className={css.marks}>
      {marks.map((mark) => (
        <span key={mark}>{format.number(mark, { notation: 'compact' })}</span>
      ))}
    </div>
  );
}

interface DrawingProperties extends Pick<ChartProperties, 'times' | 'series'> {
  top: number;
  marks: readonly number[];
}

function Drawing({ times, series, top, marks }: DrawingProperties) {
  const format = useFormatter();
  const step = WIDTH / Math.max(1, times.length);
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      className={css.drawing}
      aria-hidden="true"
    >
      {marks.map((mark) => {
        const y = (1 - mark / top) * HEIGHT;
        return <line key={mark} x1={0} x2={WIDTH} y1={y} y2={y} className={css.rule} />;
      })}
      {times.map((time, index) => {
        let below = HEIGHT;
        return (
          <g key={time.toISOString()}>
            <title>{`${format.dateTime(time, { dateStyle: 'medium', timeStyle: 'short' })}${series
              .map(
                ({ nameOf, values: { [index]: count = 0 } }) => `\n${format.number(count)} ${nameOf(count)}`,
              )
              .join('')}`}</title>
            {/* So that the words show over the whole of the hour. */}
            <rect x={index * step} y={0} width={step} height={HEIGHT} className={css.hover} />
            {series.map(({ tone, values }) => {
              const height = ((values[index] ?? 0) / top) * HEIGHT;
              below -= height;
              return height === 0 ? undefined : (
                <rect
                  key={tone}
                  x={(index + (1 - FILLED) / 2) * step}
                  y={below}
                  width={step * FILLED}
                  height={height}
                  className={`${css.bar} ${css[tone]}`}
                />
              );
            })}
          </g>
        );
      })}
    </svg>
  );
}

function Times({ times }: Pick<ChartProperties, 'times'>) {
  const ticks = useTimeTicks(times);
  return (
    <div className={css.times}>
      {ticks.map(({ at, label }) => (
        <span key={at} className={css.tick} style={{ left: `${at * 100}%` }}>
          {label}
        </span>
      ))}
    </div>
  );
}

/** A table is as wide as its words, so what hides it stands around it. */
function Numbers({ title, timeHeading, times, series }: Omit<ChartProperties, 'empty'>) {
  const format = useFormatter();
  return (
    <div className="visually-hidden">
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">{timeHeading}</th>
            {series.map(({ nameOf, tone }) => (
              <th key={tone} scope="col">
                {nameOf(MANY)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((time, index) => (
            <tr key={time.toISOString()}>
              <th scope="row">{format.dateTime(time, { dateStyle: 'medium', timeStyle: 'short' })}</th>
              {series.map(({ tone, values }) => (
                <td key={tone}>{format.number(values[index] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
