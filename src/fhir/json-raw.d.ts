/** ECMAScript "JSON.parse source text access", which the TypeScript library does not describe yet. */
interface JSON {
  rawJSON(text: string): unknown;
}
