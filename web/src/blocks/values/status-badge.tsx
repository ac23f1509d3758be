/** A state in one or two words. A sign stands beside the colour, which not everybody sees. */
import { Ban, Check, Clock, Minus, TriangleAlert } from 'lucide-react';
import css from './status-badge.module.css';

const SIGNS = { good: Check, warning: TriangleAlert, bad: Ban, running: Clock, quiet: Minus };

export type Tone = keyof typeof SIGNS;

export function StatusBadge({ tone, label }: { tone: Tone; label: string }) {
  const Sign = SIGNS[tone];
  return (
    <span className={`${css.badge} ${css[tone]}`}>
      <Sign size={12} strokeWidth={2.4} aria-hidden="true" />
      {label}
    </span>
  );
}
