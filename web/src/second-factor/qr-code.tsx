/** A QR code, drawn here: the secret in it goes to nobody. */
import { generate } from 'lean-qr';
import { useMemo } from 'react';
import css from './add-app.module.css';

/** Light modules around the code, as cameras want them. */
const MARGIN = 4;

export function QrCode({ text, label }: { text: string; label: string }) {
  const { path, size } = useMemo(() => drawingOf(text), [text]);
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      className={css.qr}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <path d={path} fill="#000000" />
    </svg>
  );
}

function drawingOf(text: string): { path: string; size: number } {
  const code = generate(text);
  let path = '';
  for (let y = 0; y < code.size; y += 1)
    for (let x = 0; x < code.size; x += 1) if (code.get(x, y)) path += `M${x + MARGIN} ${y + MARGIN}h1v1h-1z`;
  return { path, size: code.size + 2 * MARGIN };
}
