/**
 * Loaded before a process of the service (`node --import`): its clock is ahead by as many seconds as the file of
 * SHIFTED_CLOCK_FILE says at the moment.
 */
import { readFileSync } from 'node:fs';

const RealDate = Date;
const shifted = () => RealDate.now() + Number(readFileSync(process.env.SHIFTED_CLOCK_FILE, 'utf8')) * 1_000;

globalThis.Date = class extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(shifted());
    else super(...parts);
  }

  static now() {
    return shifted();
  }
};
