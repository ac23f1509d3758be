/** What the service keeps in English, said so: a screen reader reads it in English on a French page. Contract: WEB-69. */
export function InEnglish({ text }: { text: string }) {
  return <span lang="en">{text}</span>;
}
