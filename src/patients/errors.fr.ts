/** The words of `errors.ts` in French. */
export const french = {
  search_too_long: ({ maxWords }: { maxWords: number }) =>
    `search a plus de ${maxWords} mots. Envoyez-en moins.`,
};
