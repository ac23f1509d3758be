/**
 * The text of all pieces as UTF-8. To put them together as a string first would copy a long answer once more, and leave that
 * string behind as garbage.
 */
export function utf8Of(pieces: readonly string[]): Buffer {
  let length = 0;
  for (const piece of pieces) length += Buffer.byteLength(piece);
  const bytes = Buffer.allocUnsafe(length);
  let end = 0;
  for (const piece of pieces) end += bytes.write(piece, end);
  return bytes;
}
