/** An address of mail. Where there is no room for it, it breaks at its @ and its dots, not within a word. */
import { Fragment } from 'react';

export function Email({ address }: { address: string }) {
  return address.split(/(?<=[@.])/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text, which change together.
    <Fragment key={index}>
      {part}
      <wbr />
    </Fragment>
  ));
}
