/** An id in the room that there is; all of it is there to be selected, copied and read out. */
import css from './identifier.module.css';

export function Identifier({ id }: { id: string | null }) {
  if (id === null) return <span>–</span>;
  return (
    <code className={css.identifier} title={id}>
      {id}
    </code>
  );
}
