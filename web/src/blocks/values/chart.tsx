/** Small bars or lines over time. The numbers stand in a table as well, for those who cannot see the drawing. */
import { useId } from 'react';
import { useFormatter } from 'use-intl';
import css from './chart.module.css';

interface ChartProperties {
  kind: 'bars' | 'line';
  /** What is counted: "Calls in an hour". */
  title: string;
  /** Heading of the column of times. */
  timeHeading: string;
  points: readonly { at: string; value: number }[];
  tone?: 'accent' | 'bad';
}

const WIDTH = 600;
const HEIGHT = 96;

export function Chart({ kind, title, timeHeading, points, tone = 'accent' }: ChartProperties) {
  const id = useId();
  const format = useFormatter();
  const highest = Math.max(1, ...points.map(({ value }) => value));
  const total = points.reduce((sum, { value }) => sum + value, 0);
  const time = (at: string) => format.dateTime(new Date(at), { dateStyle: 'short', timeStyle: 'short' });
  return (
    <figure className={css.figure} aria-labelledby={id}>
      <figcaption id={id} className={css.title}>
        <span>{title}</span>
        <strong>{format.number(total)}</strong>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className={`${css.drawing} ${css[tone]}`}
        aria-hidden="true"
      >
        {kind === 'bars' ? bars(points, highest) : <path d={line(points, highest)} className={css.line} />}
      </svg>
      <div className={css.ends} aria-hidden="true">
        <span>{points[0] === undefined ? '' : time(points[0].at)}</span>
        <span>{points.length === 0 ? '' : time(points[points.length - 1]?.at ?? '')}</span>
      </div>
      {/* A table is as wide as its words, so what hides it stands around it. */}
      <div className="visually-hidden">
        <table>
          <caption>{title}</caption>
          <thead>
            <tr>
              <th scope="col">{timeHeading}</th>
              <th scope="col">{title}</th>
            </tr>
          </thead>
          <tbody>
            {points.map(({ at, value }) => (
              <tr key={at}>
                <th scope="row">{time(at)}</th>
                <td>{format.number(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

function bars(points: ChartProperties['points'], highest: number) {
  const step = WIDTH / Math.max(1, points.length);
  return points.map(({ at, value }, index) => {
    const height = value === 0 ? 1 : Math.max(2, (value / highest) * (HEIGHT - 4));
    return (
      <rect
        key={at}
        x={index * step + step * 0.12}
        y={HEIGHT - height}
        width={step * 0.76}
        height={height}
        className={value === 0 ? css.none : css.bar}
      />
    );
  });
}

function line(points: ChartProperties['points'], highest: number): string {
  const step = WIDTH / Math.max(1, points.length - 1);
  return points
    .map(({ value }, index) => {
      const y = HEIGHT - 2 - (value / highest) * (HEIGHT - 6);
      return `${index === 0 ? 'M' : 'L'}${(index * step).toFixed(1)} ${y.toFixed(1)}`;
    })
    .join('');
}
