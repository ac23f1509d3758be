/** The words of `errors.ts` in French. */
export const french = {
  import_id_used:
    'L’organisation a déjà une importation avec cet importId. Rien n’a été importé. Regardez cette importation, ou choisissez un autre importId.',
  upload_stalled: ({ seconds, minBytes }: { seconds: number; minBytes?: number }) => {
    const time = `${seconds} ${seconds === 1 ? 'seconde' : 'secondes'}`;
    const reason =
      minBytes === undefined
        ? `rien n’est arrivé pendant ${time}`
        : `moins de ${minBytes} octets sont arrivés en ${time}`;
    return `L’importation a été arrêtée : ${reason}. Rien n’a été gardé. Envoyez-la à nouveau.`;
  },
};
